package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// shrink returns a part of a plan that fails like the whole, and of which nothing more can be left out: first large
// pieces are tried, then ever smaller ones, then each interruption.
func shrink(p Plan, s Setting, progress io.Writer) (Plan, error) {
	first := run(p, s)
	if first.Err == nil {
		return p, errors.New("this history does not fail")
	}
	wanted := sort(first.Err)
	fails := func(events []Event) bool {
		r := run(Plan{Seed: p.Seed, Kinds: p.Kinds, Events: events}, s)
		return r.Err != nil && sort(r.Err) == wanted
	}
	for size := max(1, len(p.Events)/2); ; size /= 2 {
		for removed := true; removed; {
			removed = false
			for from := 0; from+size <= len(p.Events); {
				less := slices.Delete(slices.Clone(p.Events), from, from+size)
				if !fails(less) {
					from += size
					continue
				}
				p.Events, removed = less, true
				fmt.Fprintf(progress, "%d events left\n", len(less))
			}
			removed = removed && size == 1
		}
		if size == 1 {
			break
		}
	}
	for i := range p.Events {
		plain := slices.Clone(p.Events)
		plain[i].Interrupts = nil
		if len(p.Events[i].Interrupts) > 0 && fails(plain) {
			p.Events = plain
		}
	}
	p.Why = first.Err.Error()
	return p, nil
}

// sort is the kind of failure of an error: its first words, up to the first number or name.
func sort(err error) string {
	var words []string
	for word := range strings.FieldsSeq(err.Error()) {
		if strings.ContainsAny(word, "0123456789") {
			continue
		}
		if words = append(words, word); len(words) == 4 {
			break
		}
	}
	return strings.Join(words, " ")
}
