package pay

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// text is what a catalogue has under a key: one text, or one for each plural form (CLDR).
type text map[plural.Form]string

var forms = map[string]plural.Form{"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few,
	"many": plural.Many, "other": plural.Other}

// UnmarshalJSON reads a text, or an object of the plural forms of a language.
func (t *text) UnmarshalJSON(data []byte) error {
	*t = text{}
	var one string
	if json.Unmarshal(data, &one) == nil {
		(*t)[plural.Other] = one
		return nil
	}
	var many map[string]string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	for name, value := range many {
		form, known := forms[name]
		if !known {
			return fmt.Errorf("there is no plural form %q", name)
		}
		(*t)[form] = value
	}
	return nil
}

// catalogue holds the texts of one language.
type catalogue struct {
	Tag  language.Tag
	Name string // the language's own
	RTL  bool
	all  map[string]text
}

// say returns a text with its placeholders filled, in the plural form of n. In a script from right to left each value
// is isolated (UAX 9), so that amounts and addresses keep their order.
func (c *catalogue) say(key string, n int, values ...string) string {
	t := c.all[key]
	found, has := t[plural.Cardinal.MatchPlural(c.Tag, n, 0, 0, 0, 0)]
	if !has {
		found = t[plural.Other]
	}
	pairs := make([]string, 0, len(values))
	for i := 0; i+1 < len(values); i += 2 {
		value := values[i+1]
		if c.RTL {
			value = "\u2068" + value + "\u2069"
		}
		pairs = append(pairs, "{"+values[i]+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(found)
}

// languages lists the languages of the page, in the order in which they are offered.
func languages() []string {
	return []string{"en", "de", "fr", "es", "pt-BR", "it", "nl", "pl", "tr", "uk", "ru", "ar", "zh-Hans", "ja", "ko"}
}

// texts are all catalogues, in the order of languages.
type texts struct {
	list    []*catalogue
	matcher language.Matcher
}

func readTexts() (t texts, err error) {
	var tags []language.Tag
	for _, name := range languages() {
		data, err := files.ReadFile(path.Join("languages", name+".json"))
		if err != nil {
			return t, err
		}
		c := &catalogue{Tag: language.MustParse(name), all: map[string]text{}}
		if err := json.Unmarshal(data, &c.all); err != nil {
			return t, fmt.Errorf("read the texts of %s: %w", name, err)
		}
		c.Name = c.all["name"][plural.Other]
		c.RTL = name == "ar"
		t.list, tags = append(t.list, c), append(tags, c.Tag)
	}
	t.matcher = language.NewMatcher(tags)
	return t, nil
}

// pick returns the catalogue for a payer: their choice, or else the charge's language, or else what their browser
// accepts.
func (t texts) pick(choice, locale, accepted string) *catalogue {
	for _, wanted := range []string{choice, locale} {
		tag, err := language.Parse(wanted)
		if wanted == "" || err != nil {
			continue
		}
		if _, i, sure := t.matcher.Match(tag); sure > language.Low {
			return t.list[i]
		}
	}
	if len(accepted) > maxAccepted {
		accepted = ""
	}
	tags, _, _ := language.ParseAcceptLanguage(accepted) // tags that cannot be parsed are ignored
	_, i, _ := t.matcher.Match(tags...)
	return t.list[i]
}

const maxAccepted = 1024 // bytes of Accept-Language that are read
