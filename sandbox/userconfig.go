package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/bursar/bursar/sandbox/chains"
)

// userConfig is the file of --config: settings of the service that its user wants to try. Without a file it is empty.
type userConfig struct {
	name string
	root *yaml.Node // a mapping
}

// ownedPaths are the settings that only the sandbox can know: it makes the seed and runs the nodes.
var ownedPaths = regexp.MustCompile(`^(network|seed_file|chains\.[^.]+\.(rpc|push)|currencies\.[^.]+\.contract)$`)

// ownedVariables are their variables.
var ownedVariables = regexp.MustCompile(`^BURSAR_(NETWORK|SEED_FILE|CHAINS_.*_(RPC|PUSH)|CURRENCIES_.*_CONTRACT)$`)

// fileKeys are the keys of settings that name files.
var fileKeys = []string{"certificate", "key", "clients", "password_file", "ca", "cert", "state", "file"}

// readUserConfig reads the file, refuses what it cannot set, and makes the files that it names absolute, because the
// service reads the settings from a file in the data directory.
func readUserConfig(name string, running []*chains.Chain) (*userConfig, error) {
	g := &userConfig{name: name, root: &yaml.Node{Kind: yaml.MappingNode}}
	if name == "" {
		return g, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("--config: %s: %w", name, err)
	}
	if len(document.Content) == 0 {
		return g, nil
	}
	if g.root = document.Content[0]; g.root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("--config: %s is not a section of settings", name)
	}
	folder, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return g, errors.Join(g.checkChains(running), g.prepare(g.root, "", folder))
}

// has reports whether a top-level key is set.
func (g *userConfig) has(key string) bool { return valueOf(g.root, key) != nil }

// checkChains refuses settings of a chain that does not run: they would stop the service with a mistake that leads
// nowhere here.
func (g *userConfig) checkChains(running []*chains.Chain) error {
	section := valueOf(g.root, "chains")
	if section == nil || section.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(section.Content); i += 2 {
		id := section.Content[i]
		if !slices.ContainsFunc(running, func(c *chains.Chain) bool { return string(c.ID) == id.Value }) {
			return fmt.Errorf("--config: %s:%d: chain %.40q does not run here; --chains lists those that do",
				g.name, id.Line, id.Value)
		}
	}
	return nil
}

// prepare visits every setting.
func (g *userConfig) prepare(section *yaml.Node, path, folder string) error {
	for i := 0; i+1 < len(section.Content); i += 2 {
		key, value := section.Content[i], section.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if ownedPaths.MatchString(at) {
			return fmt.Errorf("--config: %s:%d: %s is the sandbox's own: leave it out", g.name, key.Line, at)
		}
		switch {
		case value.Kind == yaml.MappingNode:
			if err := g.prepare(value, at, folder); err != nil {
				return err
			}
		case value.Kind == yaml.ScalarNode:
			value.Value = absoluteIn(folder, key.Value, value.Value)
		}
	}
	return nil
}

// absoluteIn resolves the files that a setting names against a folder.
func absoluteIn(folder, key, value string) string {
	resolve := func(file string) string {
		if file == "" || filepath.IsAbs(file) {
			return file
		}
		return filepath.Join(folder, file)
	}
	for _, scheme := range []string{"unix:", "sqlite:"} {
		if file, ok := strings.CutPrefix(value, scheme); ok {
			return scheme + resolve(file)
		}
	}
	if slices.Contains(fileKeys, key) {
		return resolve(value)
	}
	return value
}

// mergeUserConfig writes the sandbox's settings with those given over them.
func mergeUserConfig(own string, g *userConfig) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(own), &document); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	merge(document.Content[0], g.root, "")
	text, err := yaml.Marshal(&document)
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return append([]byte("# Written by the sandbox at each start. Set BURSAR_PASSPHRASE_FILE to the file \"passphrase\" "+
		"in this directory.\n"), text...), nil
}

// merge sets what is given in the sandbox's settings. Networks for webhooks are added, so that the built-in receiver
// stays allowed; sources of prices are replaced, so that the sandbox's do not contradict them.
func merge(into, from *yaml.Node, path string) {
	for i := 0; i+1 < len(from.Content); i += 2 {
		key, value := from.Content[i], from.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		old := valueOf(into, key.Value)
		switch {
		case old == nil:
			into.Content = append(into.Content, key, value)
		case at == "webhooks.allow_networks" && value.Kind == yaml.SequenceNode:
			old.Content = append(old.Content, value.Content...)
		case old.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode && at != "prices":
			old.Style = 0 // a section on lines of its own can hold any other
			merge(old, value, at)
		default:
			*old = *value
		}
	}
}

// valueOf returns the value of a section's key, nil where it has none.
func valueOf(section *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(section.Content); i += 2 {
		if section.Content[i].Value == key {
			return section.Content[i+1]
		}
	}
	return nil
}

// checkEnvironment refuses variables of settings that are the sandbox's own.
func checkEnvironment(env []string) error {
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if value != "" && ownedVariables.MatchString(name) {
			return fmt.Errorf("the variable %s is set, but this setting is the sandbox's own: unset it", name)
		}
	}
	return nil
}

// isSet reports whether an environment sets a variable to anything.
func isSet(env []string, name string) bool {
	return slices.ContainsFunc(env, func(pair string) bool {
		return strings.HasPrefix(pair, name+"=") && len(pair) > len(name)+1
	})
}

// withoutFlags leaves out the variables of settings that a flag has set.
func withoutFlags(env []string, s settings) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(s.addressed(), func(a addressed) bool { return a.set && a.variable == name })
	})
}
