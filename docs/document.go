package docs

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// document is what the page shows of an OpenAPI document.
type document struct {
	Info struct {
		Title, Summary, Description string
	}
	Tags        []tag
	CommonCodes []string          `yaml:"x-common-codes"`
	Paths       ordered[pathItem] `yaml:"paths"`
	Webhooks    ordered[pathItem] `yaml:"webhooks"`
	Components  components        `yaml:"components"`
}

type tag struct{ Name, Description string }

type pathItem = ordered[operation]

type operation struct {
	ID          string   `yaml:"operationId"`
	Tags        []string `yaml:"tags"`
	Summary     string   `yaml:"summary"`
	Description string   `yaml:"description"`
	Scope       string   `yaml:"x-scope"`
	Codes       []string `yaml:"x-codes"`
	Security    []map[string]yaml.Node
	Parameters  []parameter
	RequestBody body `yaml:"requestBody"`
	Responses   ordered[response]
}

type components struct {
	Parameters    map[string]parameter
	RequestBodies map[string]body `yaml:"requestBodies"`
	Responses     map[string]response
	Schemas       ordered[schema]
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string
	In          string
	Description string
	Required    bool
	Schema      schema
}

type body struct {
	Ref     string `yaml:"$ref"`
	Content ordered[media]
}

type media struct{ Schema schema }

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Content     ordered[media]
}

// schema is the part of JSON Schema that the file uses.
type schema struct {
	Ref         string `yaml:"$ref"`
	Type        typeNames
	Description string
	Const       yaml.Node
	Enum        []yaml.Node
	Format      string
	Properties  ordered[schema]
	Required    []string
	Items       *schema
	OneOf       []schema `yaml:"oneOf"`
	Values      *schema  `yaml:"additionalProperties"`
	Minimum     *int64
	Maximum     *int64
	MinLength   *int64      `yaml:"minLength"`
	MaxLength   *int64      `yaml:"maxLength"`
	Examples    []yaml.Node `yaml:"examples"`
}

// typeNames are one or several types; the file writes one without brackets.
type typeNames []string

// UnmarshalYAML reads both forms.
func (t *typeNames) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = typeNames{n.Value}
		return nil
	}
	return n.Decode((*[]string)(t))
}

// ordered is a mapping in the order of the file.
type ordered[T any] []entry[T]

type entry[T any] struct {
	Key   string
	Value T
}

// UnmarshalYAML reads a mapping.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is wanted", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		e := entry[T]{Key: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&e.Value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

func (o ordered[T]) get(key string) (T, bool) {
	for _, e := range o {
		if e.Key == key {
			return e.Value, true
		}
	}
	var none T
	return none, false
}

// referred returns the last part of a reference within the file.
func referred(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// schema follows a reference. What is written beside it wins, as far as the file does that: the description.
func (d *document) schema(s schema) (schema, error) {
	if s.Ref == "" {
		return s, nil
	}
	target, found := d.Components.Schemas.get(referred(s.Ref))
	if !found {
		return schema{}, fmt.Errorf("there is no %s", s.Ref)
	}
	if s.Description != "" {
		target.Description = s.Description
	}
	return target, nil
}

// follow returns a named component in place of a reference to it.
func follow[T any](one T, ref string, named map[string]T) (T, error) {
	if ref == "" {
		return one, nil
	}
	target, found := named[referred(ref)]
	if !found {
		return target, fmt.Errorf("there is no %s", ref)
	}
	return target, nil
}
