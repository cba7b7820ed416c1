package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// shape is the kind of value that a node has.
type shape string

const (
	isNothing shape = "nothing"
	isText    shape = "a single value"
	isList    shape = "a list"
	isSection shape = "a section"
)

// node is a value of the file or of the environment, with its place.
type node struct {
	shape           shape
	key             string // the last part of path
	path            string // "chains.bitcoin.rpc"
	place           string // "bursar.yaml:7" or "BURSAR_CHAINS_BITCOIN_RPC"
	line            int
	text            string // of a single value, as written
	items           []*node
	named           []*node // of a section, in the order of the file
	fromEnvironment bool
}

// field returns the value of a section's key, nil if the key is missing.
func (n *node) field(key string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.named {
		if f.key == key {
			return f
		}
	}
	return nil
}

// below returns the path of a key in this section.
func (n *node) below(key string) string {
	if n.path == "" {
		return key
	}
	return n.path + "." + key
}

// reader parses a text into a Config and collects mistakes.
type reader struct {
	name     string
	env      []string
	mistakes Mistakes
}

// fail records a mistake in a value.
func (r *reader) fail(n *node, format string, args ...any) {
	m := Mistake{Place: n.place, Key: n.path, What: fmt.Sprintf(format, args...), line: n.line}
	if n.fromEnvironment {
		m.Key, m.line = "", math.MaxInt
	}
	r.mistakes = append(r.mistakes, m)
}

func (r *reader) place(line int) string { return r.name + ":" + strconv.Itoa(line) }

// tree reads the file. What cannot be read is recorded as a mistake and left out.
func (r *reader) tree(text []byte) *node {
	root := &node{shape: isSection, place: r.place(1), line: 1}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return root
	}
	if err != nil {
		r.syntax(err)
		return root
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		r.fail(&node{place: r.place(1), line: 1}, "the file must contain one YAML document")
		return root
	}
	top := r.node(document.Content[0], "", "")
	switch {
	case top == nil || top.shape == isNothing:
	case top.shape != isSection:
		r.fail(root, "the file must contain keys and values, such as `listen: 127.0.0.1:8080`")
	default:
		return top
	}
	return root
}

// yamlLine finds the line in an error of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax records an error of the YAML library about the syntax; it never quotes values, only the name of an unknown
// anchor, which is cut off.
func (r *reader) syntax(err error) {
	what, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(what); m != nil {
		what = what[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	if strings.HasPrefix(what, "unknown anchor") {
		what = "an unknown anchor is referred to: put a value that begins with * in quotes"
	}
	r.fail(&node{place: r.place(line), line: line}, "this is not YAML: %s", what)
}

// node converts a value of the file; it returns nil for a value that no setting accepts.
func (r *reader) node(y *yaml.Node, path, key string) *node {
	n := &node{key: key, path: path, place: r.place(y.Line), line: y.Line}
	switch {
	case y.Kind == yaml.AliasNode || y.Anchor != "":
		r.fail(n, "anchors and aliases are not supported: write the value out")
		return nil
	case y.Kind == yaml.ScalarNode && y.ShortTag() == "!!null":
		n.shape = isNothing
	case y.Kind == yaml.ScalarNode:
		n.shape, n.text = isText, y.Value
	case y.Kind == yaml.SequenceNode:
		n.shape = isList
		for _, item := range y.Content {
			if i := r.node(item, path, key); i != nil {
				n.items = append(n.items, i)
			}
		}
	case y.Kind == yaml.MappingNode:
		n.shape = isSection
		r.section(n, y)
	}
	return n
}

// plainKey matches keys, including amounts; anything else is not quoted in an error, because it may be a misplaced
// value.
var plainKey = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_-]{0,39}|[0-9]{1,20}\.[0-9]{1,30})$`)

func (r *reader) section(n *node, y *yaml.Node) {
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		at := &node{path: n.path, place: r.place(key.Line), line: key.Line}
		if key.Kind != yaml.ScalarNode || !plainKey.MatchString(key.Value) {
			r.fail(at, "a key is expected here, made of letters, digits, _ and -")
			continue
		}
		if double := n.field(key.Value); double != nil {
			r.fail(at, "%s is there twice, first in line %d", key.Value, double.line)
			continue
		}
		if f := r.node(value, n.below(key.Value), key.Value); f != nil {
			f.line, f.place = key.Line, r.place(key.Line)
			n.named = append(n.named, f)
		}
	}
}
