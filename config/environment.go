package config

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
)

const variablePrefix = "BURSAR_"

// notSettings are variables that begin like settings but are not: what opens the seed file, which signer reads; what
// the commands of clients read; those by which tests find node programs; and those that Kubernetes sets in every
// container that runs in the same namespace as a service named bursar.
var notSettings = regexp.MustCompile(`^BURSAR_(PASSPHRASE|PASSPHRASE_FILE|IDENTITY_FILE|` +
	`API(_KEY|_SECRET)?|PROFILE|CONTROL|WEBHOOK_SECRET|ANVIL|BITCOIND|TEST_.*|` +
	`SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_.*)?)$`)

// HasSettings reports whether an environment contains any setting, so that the service may run without a file.
func HasSettings(env []string) bool {
	return slices.ContainsFunc(env, func(pair string) bool {
		name, value, _ := strings.Cut(pair, "=")
		return value != "" && isSetting(name)
	})
}

func isSetting(name string) bool {
	return strings.HasPrefix(name, variablePrefix) && !notSettings.MatchString(name)
}

// overlay overrides the file with the environment's variables.
func (r *reader) overlay(root *node, env []string) {
	values := map[string]string{}
	var names []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if !isSetting(name) {
			continue
		}
		if _, double := values[name]; !double {
			names = append(names, name)
		}
		values[name] = value // the last one applies, as for the processes that a shell starts
	}
	slices.Sort(names)
	for _, name := range names {
		at := &node{shape: isText, place: name, line: math.MaxInt, text: values[name], fromEnvironment: true}
		path := locate(root, strings.TrimPrefix(name, variablePrefix))
		if path == nil {
			r.fail(at, "unknown setting%s", suggestVariable(root, name))
			continue
		}
		if at.text != "" {
			root.put(path, at)
		}
	}
}

// put sets a value below a section and creates the sections in between. If the file has something else than a section,
// which is recorded as a mistake elsewhere, it changes nothing.
func (n *node) put(path []string, value *node) {
	if n.shape == isNothing {
		n.shape = isSection
	}
	if n.shape == isText && n.key == confirmationsKey { // the short form of a section with a default
		short := *n
		short.key, short.path = defaultKey, n.below(defaultKey)
		n.shape, n.named = isSection, []*node{&short}
	}
	if n.shape != isSection {
		return
	}
	f := n.field(path[0])
	if f == nil {
		f = &node{shape: isSection, key: path[0], path: n.below(path[0]), place: value.place, line: value.line}
		n.named = append(n.named, f)
	}
	if len(path) > 1 {
		f.put(path[1:], value)
		return
	}
	key, full := f.key, f.path
	*f = *value
	f.key, f.path = key, full
}

// variable returns the name of a path's environment variable, without the prefix.
func variable(path ...string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.Join(path, "_"), "-", "_"))
}

// fixedPaths returns the paths of all keys that are not below a name that the operator chooses.
func fixedPaths() (paths [][]string) {
	for _, key := range keysOf(slices.Concat(topSettings, accessSettings)) {
		paths = append(paths, []string{key})
	}
	add := func(section string, keys []string) {
		for _, key := range keys {
			paths = append(paths, []string{section, key})
		}
	}
	add(webhooksKey, keysOf(webhookSettings))
	add(limitsKey, keysOf(limitsSettings))
	add(withdrawalsKey, keysOf(withdrawalsSettings))
	add(signerKey, keysOf(signerSettings))
	add(ratesKey, keysOf(ratesSettings))
	add(pricesKey, keysOf(pricesSettings))
	add(screeningKey, keysOf(screeningSettings))
	add(payKey, keysOf(paySettings))
	add(noticesKey, keysOf(noticesSettings))
	add(tlsKey, keysOf(tlsSettings))
	add(adminKey, keysOf(adminSettings))
	add(consoleKey, keysOf(consoleSettings))
	for _, key := range keysOf(tlsSettings) {
		paths = append(paths, []string{adminKey, tlsKey, key})
	}
	return paths
}

// below holds the keys of the sections below a chain.
var below = map[string][]string{
	quotaKey:         keysOf(quotaSettings),
	confirmationsKey: {defaultKey, aboveKey},
	quorumKey:        keysOf(quorumSettings),
}

// chainKeys returns the keys below a chain, including those of its sections, separated by dots.
func chainKeys() (keys []string) {
	for _, key := range keysOf(chainSettings) {
		if below[key] == nil || key == confirmationsKey { // may be a single value too
			keys = append(keys, key)
		}
		for _, inner := range below[key] {
			keys = append(keys, key+"."+inner)
		}
	}
	return keys
}

// locate returns the path for a variable's name without the prefix; nil if there is none.
func locate(root *node, name string) []string {
	for _, path := range fixedPaths() {
		if variable(path...) == name {
			return path
		}
	}
	if rest, ok := strings.CutPrefix(name, "RATES_"); ok {
		return locateRate(root, rest)
	}
	if rest, ok := strings.CutPrefix(name, "PRICES_FEEDS_"); ok {
		path := locateIn(root.field(pricesKey), feedsKey, rest, keysOf(feedSettings), strings.ToLower)
		if path == nil {
			return nil
		}
		return append([]string{pricesKey}, path...)
	}
	if rest, ok := strings.CutPrefix(name, "NOTICES_RECEIVERS_"); ok {
		path := locateIn(root.field(noticesKey), receiversKey, rest, keysOf(receiverSettings), strings.ToLower)
		if path == nil {
			return nil
		}
		return append([]string{noticesKey}, path...)
	}
	if chain, ok := strings.CutPrefix(name, "PAY_EXPLORERS_"); ok && chain != "" {
		return []string{payKey, explorersKey, strings.ToLower(strings.ReplaceAll(chain, "_", "-"))}
	}
	if rest, ok := strings.CutPrefix(name, "CHAINS_"); ok {
		return locateIn(root, chainsKey, rest, chainKeys(), strings.ToLower)
	}
	if rest, ok := strings.CutPrefix(name, "CURRENCIES_"); ok {
		return locateIn(root, currenciesKey, rest, currencyKeys(), strings.ToUpper)
	}
	return nil
}

// locateRate returns the path of a currency's setting below rates, as in "STATIC_USDT_MATIC".
func locateRate(root *node, rest string) []string {
	for _, key := range []string{staticKey, pointersKey} {
		name, ok := strings.CutPrefix(rest, variable(key)+"_")
		if !ok || name == "" {
			continue
		}
		for _, known := range namesIn(root, currenciesKey) {
			if variable(known) == name {
				return []string{ratesKey, key, known}
			}
		}
		return []string{ratesKey, key, strings.ReplaceAll(name, "_", "-")}
	}
	return nil
}

// locateIn splits "USDT_MATIC_WITHDRAWAL_MINIMUM" into a name and the longest key that it can end with.
func locateIn(root *node, section, rest string, keys []string, spell func(string) string) []string {
	found, name := "", ""
	for _, key := range keys {
		if before, ok := strings.CutSuffix(rest, "_"+variable(strings.Split(key, ".")...)); ok && before != "" &&
			len(key) > len(found) {
			found, name = key, before
		}
	}
	if found == "" {
		return nil
	}
	path := strings.Split(found, ".")
	for _, known := range namesIn(root, section) {
		if variable(known) == name {
			return append([]string{section, known}, path...)
		}
	}
	return append([]string{section, spell(strings.ReplaceAll(name, "_", "-"))}, path...)
}

// namesIn returns the names that a section has in the file, and the standard names.
func namesIn(root *node, section string) []string {
	var names []string
	if s := root.field(section); s != nil {
		for _, f := range s.named {
			names = append(names, f.key)
		}
	}
	if section == chainsKey {
		for _, id := range registry.IDs() {
			names = append(names, string(id))
		}
		return names
	}
	for _, c := range bursar.Standard() {
		names = append(names, string(c.Code))
	}
	return names
}

func suggestVariable(root *node, name string) string {
	var known []string
	add := func(path ...string) { known = append(known, variable(path...)) }
	for _, path := range fixedPaths() {
		add(path...)
	}
	for _, chain := range namesIn(root, chainsKey) {
		for _, key := range chainKeys() {
			add(append([]string{chainsKey, chain}, strings.Split(key, ".")...)...)
		}
	}
	for _, code := range namesIn(root, currenciesKey) {
		for _, key := range currencyKeys() {
			add(currenciesKey, code, key)
		}
	}
	if near := nearest(strings.TrimPrefix(name, variablePrefix), known); near != "" {
		return " (did you mean " + variablePrefix + near + "?)"
	}
	return ""
}
