package site

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// decisions is the folder of the decisions.
const decisions = "decisions"

// document is one file of Markdown.
type document struct {
	Name  string // its path below the folder of documents, without .md
	Title string // its first heading

	text     []byte
	tree     ast.Node
	sections []section
}

// section is a heading with the text up to the next one.
type section struct {
	heading string
	anchor  string
	text    string
	lower   string // text in small letters
}

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(headings{}, 100))),
)

func newDocument(name string, source []byte) *document {
	d := &document{Name: name, Title: name, text: source}
	d.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(
		parser.WithIDs(&anchors{taken: map[string]int{}}))))
	titled := false
	at := section{}
	for n := d.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		if !isHeading {
			at.text += plain(n, source) + "\n"
			continue
		}
		d.sections = append(d.sections, at)
		at = section{heading: strings.TrimSpace(plain(h, source)), anchor: anchorOf(h)}
		if !titled {
			d.Title, titled = at.heading, true
		}
	}
	d.sections = append(d.sections, at)
	for i := range d.sections {
		d.sections[i].lower = strings.ToLower(d.sections[i].text)
	}
	return d
}

func anchorOf(h *ast.Heading) string {
	id, _ := h.AttributeString("id")
	name, _ := id.([]byte)
	return string(name)
}

// plain is the text below a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch v := n.(type) {
		case *ast.Text:
			b.Write(v.Segment.Value(source))
			if v.SoftLineBreak() || v.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock:
			b.Write(v.Lines().Value(source))
		case *ast.CodeBlock:
			b.Write(v.Lines().Value(source))
		}
		if n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors names headings as the documents' own links do, which is how GitHub names them: in small letters, spaces as
// hyphens, and nothing but letters, digits, hyphens and underscores. The second of one name ends with -1.
type anchors struct{ taken map[string]int }

var notAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)

// Generate names a heading by its text.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := notAnchor.ReplaceAllString(strings.ToLower(string(value)), "")
	name = strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
	n := a.taken[name]
	a.taken[name]++
	if n > 0 {
		name += "-" + strconv.Itoa(n)
	}
	return []byte(name)
}

// Put keeps a name that a document gives itself.
func (a *anchors) Put(value []byte) { a.taken[string(value)]++ }

// headings renders headings with their anchors. One that begins with code, as an error's code, can be linked to by that
// alone too.
type headings struct{}

// RegisterFuncs is called by goldmark.
func (headings) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
}

func renderHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	tag := "h" + strconv.Itoa(h.Level)
	if !entering {
		_, _ = w.WriteString("</" + tag + ">\n")
		return ast.WalkContinue, nil
	}
	anchor := anchorOf(h)
	_, _ = w.WriteString("<" + tag + ` id="` + anchor + `">`)
	if code, begins := h.FirstChild().(*ast.CodeSpan); begins {
		if short := string((&anchors{taken: map[string]int{}}).Generate([]byte(plain(code, source)), 0)); short != anchor {
			_, _ = w.WriteString(`<a id="` + short + `"></a>`)
		}
	}
	return ast.WalkContinue, nil
}

// render makes a document's HTML. HTML that a document has itself is left out.
func (s *Site) render(d *document) ([]byte, error) {
	if err := s.relink(d); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, d.text, d.tree)
	return b.Bytes(), err
}
