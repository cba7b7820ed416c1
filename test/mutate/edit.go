package main

import (
	"bytes"
	"fmt"
	"go/format"
	"sort"
	"strings"
)

// rewrite inserts the sites' edits into a file.
func rewrite(src []byte, sites []site) ([]byte, error) {
	var edits []edit
	for _, s := range sites {
		for _, e := range s.edit {
			e.text = strings.ReplaceAll(e.text, "#", fmt.Sprint(s.id))
			edits = append(edits, e)
		}
	}
	sort.SliceStable(edits, func(i, j int) bool { return before(edits[i], edits[j]) })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(src[at:e.at])
		out.WriteString(e.text)
		at = e.at
	}
	out.Write(src[at:])
	if _, err := format.Source(out.Bytes()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// before orders edits: an edit that closes comes before one that opens at the same place; of two that close, the
// inner comes first; of two that open, the outer.
func before(a, b edit) bool {
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.close != b.close:
		return a.close
	case a.close:
		return a.depth > b.depth
	}
	return a.depth < b.depth
}
