package docs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// toJSON writes YAML as JSON in its own order. It takes what JSON has: no aliases, and no keys but texts.
func toJSON(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, n); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.DocumentNode:
		return writeJSON(b, n.Content[0])
	case yaml.MappingNode:
		return writeObject(b, n)
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeScalar(b, n)
	}
	return fmt.Errorf("line %d: JSON has nothing of this kind", n.Line)
}

func writeObject(b *bytes.Buffer, n *yaml.Node) error {
	b.WriteByte('{')
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" || seen[key.Value] {
			return fmt.Errorf("line %d: %q is no key, or stands twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeScalar(b, key); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeJSON(b, n.Content[i+1]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// writeScalar keeps numbers as they are written.
func writeScalar(b *bytes.Buffer, n *yaml.Node) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	switch n.Tag {
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			return fmt.Errorf("line %d: JSON has no number %s", n.Line, n.Value)
		}
		b.WriteString(n.Value)
		return nil
	case "!!str", "!!bool", "!!null":
	default:
		return fmt.Errorf("line %d: JSON has no %s", n.Line, n.Tag)
	}
	text, err := json.Marshal(v)
	b.Write(text)
	return err
}
