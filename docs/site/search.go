package site

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxQuery is how long a query may be, in bytes; what is longer is cut.
const MaxQuery = 200

const (
	maxHits   = 30
	maxWords  = 8
	excerptOf = 160 // characters around the first word that is found
)

// Hit is a section in which every word of a query is.
type Hit struct {
	Path    string // of the page, with the heading
	Title   string // of the document
	Heading string // empty: before the first one
	Excerpt string

	rank int
}

// Search returns the sections that have all words of a query, in their heading or their text, in any case: those with
// words in the heading first, decisions last. An empty query finds nothing.
func (s *Site) Search(query string) []Hit {
	words := wordsOf(query)
	if len(words) == 0 {
		return nil
	}
	var hits []Hit
	for _, d := range s.documents {
		for _, part := range d.sections {
			if h, found := d.hit(part, words); found {
				hits = append(hits, h)
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return b.rank - a.rank })
	return hits[:min(len(hits), maxHits)]
}

func wordsOf(query string) []string {
	query = strings.ToValidUTF8(query[:min(len(query), MaxQuery)], "")
	words := strings.Fields(strings.ToLower(query))
	return words[:min(len(words), maxWords)]
}

func (d *document) hit(part section, words []string) (Hit, bool) {
	heading, body := strings.ToLower(d.Title+" "+part.heading), part.lower
	h := Hit{Path: Root + d.Name, Title: d.Title, Heading: part.heading}
	if part.anchor != "" {
		h.Path += "#" + part.anchor
	}
	if path.Dir(d.Name) == decisions {
		h.rank -= 50
	}
	for _, w := range words {
		inHeading, inBody := strings.Contains(heading, w), strings.Count(body, w)
		if !inHeading && inBody == 0 {
			return h, false
		}
		h.rank += min(inBody, 5)
		if strings.Contains(strings.ToLower(part.heading), w) {
			h.rank += 20
		} else if inHeading {
			h.rank += 5
		}
	}
	h.Excerpt = excerpt(part.text, body, words[0])
	return h, true
}

// excerpt is the text around the first occurrence of a word, whole words only.
func excerpt(text, lower, word string) string {
	at := max(strings.Index(lower, word), 0)
	if len(lower) != len(text) || at > len(text) { // a letter whose small form has another length
		at = 0
	}
	from, to := max(at-excerptOf/2, 0), min(at+excerptOf, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	cut := text[from:to]
	if from > 0 {
		_, cut, _ = strings.Cut(cut, " ")
		cut = "… " + cut
	}
	if to < len(text) {
		if i := strings.LastIndexByte(cut, ' '); i > 0 {
			cut = cut[:i] + " …"
		}
	}
	return strings.Join(strings.Fields(cut), " ")
}
