package pay

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/feature/plural"
)

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// placeholders are those of a text, in the order of their names.
func placeholders(text string) string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return strings.Join(slices.Compact(found), "")
}

// formsOf returns the plural forms that the whole numbers of a language take.
func formsOf(c *catalogue) map[plural.Form]bool {
	forms := map[plural.Form]bool{plural.Other: true}
	for n := range 200 {
		forms[plural.Cardinal.MatchPlural(c.Tag, n, 0, 0, 0, 0)] = true
	}
	return forms
}

// Every language says everything, with the same values, and in each of its plural forms.
func TestEveryLanguageSaysEverything(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all.list) != 15 {
		t.Errorf("there are %d languages, want 15", len(all.list))
	}
	english := all.list[0].all
	for _, c := range all.list {
		if got, want := slices.Sorted(maps.Keys(c.all)), slices.Sorted(maps.Keys(english)); !slices.Equal(got, want) {
			t.Errorf("%s has the keys %v, want %v", c.Tag, got, want)
		}
		for key, text := range c.all {
			want := placeholders(english[key][plural.Other])
			for form, said := range text {
				if got := placeholders(said); got != want || said == "" {
					t.Errorf("%s says %q for %s in form %v with the values %q, want %q", c.Tag, said, key, form, got, want)
				}
			}
			if len(english[key]) < 2 {
				continue
			}
			for form := range formsOf(c) {
				if text[form] == "" {
					t.Errorf("%s has no text for %s in the plural form %v, want one", c.Tag, key, form)
				}
			}
		}
	}
}

// Every state and every notice has its texts.
func TestEveryStateHasItsTexts(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"payment_pending", "payment_confirmed", "payment_orphaned", "payment_reversed",
		"payment_below_minimum",
		"not_found", "not_found_text", "unavailable", "unavailable_text"}
	for _, s := range States() {
		keys = append(keys, string(s), string(s)+"_text")
	}
	for _, label := range notices() {
		keys = append(keys, "notice_"+string(label))
	}
	for _, key := range keys {
		if all.list[0].say(key, 0) == "" {
			t.Errorf("there is no text %q, want one", key)
		}
	}
}

// The payer's choice goes before the charge's language, and that before what the browser accepts.
func TestWhichLanguageIsPicked(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ choice, locale, accepted, want string }{
		{"ja", "de", "fr", "ja"},
		{"", "de", "fr", "de"},
		{"", "de-AT", "", "de"},
		{"", "", "fr-CA, de;q=0.5", "fr"},
		{"", "", "tlh, pt;q=0.5", "pt-BR"},
		{"", "", "zh-CN", "zh-Hans"},
		{"", "", "ar-EG", "ar"},
		{"", "", "", "en"},
		{"%%%", "", "it", "it"},
		{"", "hu", "it", "it"},
		{"", "", strings.Repeat("de,", 2000), "en"},
	} {
		if got := all.pick(test.choice, test.locale, test.accepted).Tag.String(); got != test.want {
			t.Errorf("%q, %q and %.20q pick %s, want %s", test.choice, test.locale, test.accepted, got, test.want)
		}
	}
}

// Amounts within a sentence from right to left keep their order.
func TestValuesAreIsolated(t *testing.T) {
	t.Parallel()
	all, err := readTexts()
	if err != nil {
		t.Fatal(err)
	}
	arabic := all.pick("ar", "", "")
	said := arabic.say("notice_over", 0, "over", "1.5 EUR")
	if want := "\u20681.5 EUR\u2069"; !strings.Contains(said, want) {
		t.Errorf("it says %q, want %q within", said, want)
	}
	if got, want := arabic.say("minutes_left", 3, "n", "3"), arabic.say("minutes_left", 30, "n", "3"); got == want {
		t.Errorf("3 and 30 minutes are both %q, want two plural forms", got)
	}
}
