package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one error in the configuration.
type Mistake struct {
	Place string // "bursar.yaml:7", or the environment variable
	Key   string // "chains.bitcoin.rpc"; empty if no key is at fault or the place names it
	What  string // what is wrong and what is allowed

	line int // line in the file; variables come after all lines
}

// Error returns the mistake on one line.
func (m Mistake) Error() string {
	if m.Key == "" {
		return m.Place + ": " + m.What
	}
	return m.Place + ": " + m.Key + ": " + m.What
}

// place is the position of a value.
type place struct {
	name            string // as Mistake.Place
	line            int
	fromEnvironment bool
	section         bool   // there are values below it
	shown           string // what is written there, where that is certainly no secret
}

// rememberPlaces records the place of a value and of all values below it.
func (n *node) rememberPlaces(places map[string]place) {
	places[n.path] = place{
		name:            n.place,
		line:            n.line,
		fromEnvironment: n.fromEnvironment,
		section:         n.shape == isSection,
		shown:           n.shown(),
	}
	for _, f := range n.named {
		f.rememberPlaces(places)
	}
}

// MistakeAt returns a mistake in the value at a path such as "currencies.USDT.contract", with its line or variable, for
// rules that only an adapter can check. A default value has the place of the section above it.
func (c Config) MistakeAt(path, format string, args ...any) Mistake {
	m := Mistake{Place: "the configuration", Key: path, What: fmt.Sprintf(format, args...)}
	for above := path; ; {
		if at, found := c.places[above]; found {
			m.Place, m.line = at.name, at.line
			if at.fromEnvironment {
				m.Key = ""
			}
			return m
		}
		last := strings.LastIndexByte(above, '.')
		if above == "" {
			return m
		}
		above = above[:max(last, 0)]
	}
}

// Mistakes are all mistakes that were found, in the order of the file, followed by those of the environment.
type Mistakes []Mistake

// maxShown bounds how many mistakes an error lists.
const maxShown = 20

// Error returns one line for each mistake.
func (list Mistakes) Error() string {
	var b strings.Builder
	for i, m := range list[:min(len(list), maxShown)] {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(m.Error())
	}
	if more := len(list) - maxShown; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

// err returns nil if there is no mistake.
func (list Mistakes) err() error {
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b Mistake) int { return cmp.Compare(a.line, b.line) })
	return list
}

// nearest returns the candidate most similar to a misspelt word, or "".
func nearest(word string, candidates []string) string {
	best, found := len(word)/3+1, ""
	for _, c := range candidates {
		if d := distance(word, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// distance counts the letters to add, drop, change or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(last[j]+1, row[j-1]+1, changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// didYouMean returns the end of a message about an unknown word: the most similar word, or the allowed ones.
func didYouMean(word string, allowed []string) string {
	if near := nearest(word, allowed); near != "" {
		return fmt.Sprintf(" (did you mean %s?)", near)
	}
	return "; allowed are " + strings.Join(allowed, ", ")
}
