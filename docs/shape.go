package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// shape is one schema as the page shows it.
type shape struct {
	Name  string
	Type  label
	Prose template.HTML
	Rows  []row
}

// label says in a few words what a value is. Link names the schema that says more.
type label struct {
	Before, Link, After string
	Values              []string // the only ones
}

func (d *document) shape(name string, s schema) (shape, error) {
	one := shape{Name: name, Prose: inline(s.Description)}
	var err error
	if one.Type, err = d.label(s); err != nil {
		return one, err
	}
	if len(s.Properties) > 0 {
		one.Type = label{}
	}
	one.Rows, err = d.rows("", s)
	return one, err
}

// rows lists properties, and those of objects that have no name of their own beneath them.
func (d *document) rows(prefix string, s schema) ([]row, error) {
	var list []row
	for _, p := range s.Properties {
		kind, err := d.label(p.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, row{
			Name:     prefix + p.Key,
			Type:     kind,
			Required: slices.Contains(s.Required, p.Key),
			Prose:    inline(p.Value.Description),
		})
		inner, err := d.rows(prefix+p.Key+".", p.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, inner...)
	}
	return list, nil
}

func (d *document) label(s schema) (label, error) {
	switch {
	case s.Ref != "":
		_, err := d.schema(s)
		return label{Link: referred(s.Ref)}, err
	case s.Items != nil:
		inner, err := d.label(*s.Items)
		inner.Before = "list of " + inner.Before
		return inner, err
	case s.Values != nil:
		inner, err := d.label(*s.Values)
		inner.Before = "by currency: " + inner.Before
		return inner, err
	case s.Const.Kind != 0:
		return values(s.Const.Value), nil
	case len(s.Enum) > 0:
		var all []string
		for _, v := range s.Enum {
			all = append(all, v.Value)
		}
		return values(all...), nil
	case len(s.OneOf) > 0:
		var all []string
		for _, one := range s.OneOf {
			all = append(all, plain(one))
		}
		return label{Before: strings.Join(all, " or ")}, nil
	}
	return label{Before: plain(s)}, nil
}

func values(all ...string) label { return label{Values: all} }

// plain names a type and its bounds.
func plain(s schema) string {
	name := strings.Join(s.Type, " or ")
	if s.Format != "" {
		name += " (" + s.Format + ")"
	}
	switch least, most := either(s.Minimum, s.MinLength), either(s.Maximum, s.MaxLength); {
	case least != nil && most != nil:
		name += fmt.Sprintf(", %d to %d", *least, *most)
	case most != nil:
		name += fmt.Sprintf(", at most %d", *most)
	case least != nil && *least > 0:
		name += fmt.Sprintf(", at least %d", *least)
	}
	if s.MaxLength != nil {
		name += " characters"
	}
	return name
}

func either(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}
