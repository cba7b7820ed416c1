package store

import (
	"fmt"
	"net/netip"
	"strings"
)

// networksText writes networks with commas between.
func networksText(list []netip.Prefix) string {
	texts := make([]string, len(list))
	for i, network := range list {
		texts[i] = network.String()
	}
	return strings.Join(texts, ",")
}

// networks is where a column written by networksText is scanned into. A text that is none is an error: a list that was
// read as an empty one would open what it closes.
type networks struct{ list *[]netip.Prefix }

// Scan reads what networksText wrote.
func (n networks) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan networks: unexpected %T", src)
	}
	*n.list = nil
	for _, part := range splitText[string](text) {
		network, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("scan networks: %w", err)
		}
		*n.list = append(*n.list, network)
	}
	return nil
}
