package docs

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// examples makes up values from the schemas' own examples.
type examples struct{ *document }

// of writes one value of a schema as JSON over several lines, each after the first beginning with the indent.
func (x examples) of(s schema, indent string) (string, error) {
	s, err := x.schema(s)
	if err != nil {
		return "", err
	}
	inner := indent + "  "
	switch {
	case len(s.Examples) > 0:
		return compact(&s.Examples[0])
	case s.Const.Kind != 0:
		return compact(&s.Const)
	case len(s.Enum) > 0:
		return compact(&s.Enum[0])
	case len(s.OneOf) > 0:
		return x.of(s.OneOf[0], indent)
	case s.Items != nil:
		item, err := x.of(*s.Items, inner)
		return "[\n" + inner + item + "\n" + indent + "]", err
	case s.Values != nil:
		value, err := x.of(*s.Values, inner)
		return "{\n" + inner + `"BTC": ` + value + "\n" + indent + "}", err
	case len(s.Properties) > 0:
		return x.object(s, indent, inner)
	}
	return scalar(s), nil
}

// object shows what is always there.
func (x examples) object(s schema, indent, inner string) (string, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	first := true
	for _, p := range s.Properties {
		if !slices.Contains(s.Required, p.Key) {
			continue
		}
		value, err := x.of(p.Value, inner)
		if err != nil {
			return "", err
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		fmt.Fprintf(&b, "\n%s%q: %s", inner, p.Key, value)
	}
	b.WriteString("\n" + indent + "}")
	return b.String(), nil
}

// query writes what is required as a query.
func (x examples) query(s schema) (string, error) {
	values := url.Values{}
	for _, p := range s.Properties {
		if !slices.Contains(s.Required, p.Key) {
			continue
		}
		value, err := x.of(p.Value, "")
		if err != nil {
			return "", err
		}
		values.Set(p.Key, strings.Trim(value, `"`))
	}
	if len(values) == 0 {
		return "", nil
	}
	return "?" + values.Encode(), nil
}

// scalar stands for a value that has no example of its own.
func scalar(s schema) string {
	switch {
	case slices.Contains(s.Type, "null"):
		return "null"
	case slices.Contains(s.Type, "integer"):
		if s.Minimum != nil {
			return fmt.Sprint(*s.Minimum)
		}
		return "1"
	case slices.Contains(s.Type, "boolean"):
		return "false"
	case slices.Contains(s.Type, "object"):
		return "{}"
	}
	return `"text"`
}

func compact(n *yaml.Node) (string, error) {
	var b bytes.Buffer
	err := writeJSON(&b, n)
	return b.String(), err
}
