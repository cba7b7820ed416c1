package config

import (
	"slices"
	"testing"

	"github.com/bursar/bursar/chain/registry"
)

// TestEverySettingOfADefinitionIsRead compares the settings that the chains' definitions name with those that are read:
// one that is misspelt would be refused for the chain that has it and taken by all others.
func TestEverySettingOfADefinitionIsRead(t *testing.T) {
	t.Parallel()
	var own []string
	for _, d := range registry.All() {
		for _, name := range d.Settings {
			if !slices.ContainsFunc(chainSettings, func(s setting[chainDraft]) bool { return s.key == name }) {
				t.Errorf("%s has the setting %s, which is not read", d.ID, name)
			}
		}
		own = append(own, d.Settings...)
	}
	for _, s := range familySettings {
		if !slices.Contains(own, s.key) {
			t.Errorf("%s is a setting of a family, and no definition names it: every chain would accept it", s.key)
		}
	}
}
