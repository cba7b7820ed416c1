package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// text returns a single value as written.
func (r *reader) text(n *node) (string, bool) {
	switch {
	case n.shape == isNothing || n.shape == isText && n.text == "":
		r.fail(n, "the value is empty: write a value, or leave the key out")
	case n.shape != isText:
		r.fail(n, "this is %s; a single value is expected", n.shape)
	default:
		return n.text, true
	}
	return "", false
}

// whole parses a whole number within inclusive bounds.
func (r *reader) whole(n *node, least, most uint64) (uint64, bool) {
	text, ok := r.text(n)
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		r.fail(n, "%.40q is not a whole number; allowed are %d to %d", text, least, most)
		return 0, false
	}
	if err != nil || value < least || value > most {
		r.fail(n, "%.40s is out of range; allowed are %d to %d", text, least, most)
		return 0, false
	}
	return value, true
}

// count parses a number of things, as whole does.
func (r *reader) count(n *node, least, most uint64) (int, bool) {
	value, ok := r.whole(n, least, most)
	return int(value), ok
}

// byteUnits are the units of sizes besides plain bytes.
var byteUnits = []struct {
	suffix string
	bytes  uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"", 1}}

// bytes parses a size such as 64MiB within inclusive bounds.
func (r *reader) bytes(n *node, least, most uint64) (int64, bool) {
	text, ok := r.text(n)
	if !ok {
		return 0, false
	}
	for _, unit := range byteUnits {
		digits, is := strings.CutSuffix(text, unit.suffix)
		if !is {
			continue
		}
		value, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 64)
		if err == nil && value <= most/unit.bytes && value*unit.bytes >= least {
			return int64(value * unit.bytes), true
		}
		break
	}
	r.fail(n, "%.40q is not a size that is allowed: %d to %d bytes, such as 64MiB", text, least, most)
	return 0, false
}

// asSection returns n if it is a section, and otherwise records a mistake with an example.
func (r *reader) asSection(n *node, example string) *node {
	if n == nil || n.shape == isSection {
		return n
	}
	r.fail(n, "this is %s; a section is expected, such as %s", n.shape, example)
	return nil
}

// decimal parses an amount with at most the given decimals, from its digits.
func (r *reader) decimal(n *node, text string, decimals int) (bursar.Amount, bool) {
	amount, err := bursar.ParseDecimal(text, decimals)
	switch {
	case errors.Is(err, bursar.ErrAmountPlaces):
		r.fail(n, "%.40q has too many decimals; at most %d are allowed", text, decimals)
	case errors.Is(err, bursar.ErrAmountOverflow):
		r.fail(n, "%.40q is too large", text)
	case err != nil:
		r.fail(n, "%.40q is not a plain decimal number, such as 0.015", text)
	}
	return amount, err == nil
}

// amount parses an amount above zero. Zero is refused because it would be misunderstood: it means no limit, not a limit
// of nothing.
func (r *reader) amount(n *node, decimals int) (bursar.Amount, bool) {
	text, ok := r.text(n)
	if !ok {
		return bursar.Amount{}, false
	}
	amount, ok := r.decimal(n, text, decimals)
	if ok && amount.IsZero() {
		r.fail(n, "the value must be more than zero; leave the key out if it does not apply")
		return bursar.Amount{}, false
	}
	return amount, ok
}

// address parses a host:port to listen on.
func (r *reader) address(n *node) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		r.fail(n, "%.60q is not host:port, such as 127.0.0.1:8080 (port 0 picks a free one)", text)
		return "", false
	}
	return text, true
}

// oneOf parses one of a few allowed words.
func (r *reader) oneOf(n *node, allowed ...string) (string, bool) {
	text, ok := r.text(n)
	if !ok {
		return "", false
	}
	for _, word := range allowed {
		if text == word {
			return text, true
		}
	}
	r.fail(n, "%.40q is unknown; allowed are %s", text, strings.Join(allowed, ", "))
	return "", false
}

// duration parses zero or a Go duration within bounds.
func (r *reader) duration(n *node, least, most time.Duration) (time.Duration, bool) {
	text, ok := r.text(n)
	if !ok {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil || d != 0 && (d < least || d > most) {
		r.fail(n, "%.40q is not a duration that is allowed: 0s, or %s to %s, such as 200ms", text, least, most)
		return 0, false
	}
	return d, true
}

// list returns the values of a list; a single value is a list of one, and in the environment commas separate values.
func (r *reader) list(n *node) []*node {
	switch n.shape {
	case isList:
		return n.items
	case isSection:
		r.fail(n, "this is a section; a list is expected")
		return nil
	case isNothing:
		return nil
	}
	if !n.fromEnvironment {
		return []*node{n}
	}
	var items []*node
	for part := range strings.SplitSeq(n.text, ",") {
		item := *n
		item.text = strings.TrimSpace(part)
		items = append(items, &item)
	}
	return items
}

// nodeURL parses the URL of a chain's node. No error quotes it.
func (r *reader) nodeURL(n *node) (Secret, bool) {
	text, ok := r.text(n)
	if !ok {
		return Secret{}, false
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" ||
		u.Fragment != "" {
		r.fail(n, "a URL is not of the form http://user:password@host:port (or https)")
		return Secret{}, false
	}
	return NewSecret(text), true
}

// database parses a database's URL. No error quotes it.
func (r *reader) database(n *node) (Secret, bool) {
	text, ok := r.text(n)
	if !ok {
		return Secret{}, false
	}
	if file, ok := strings.CutPrefix(text, sqliteScheme); ok && strings.TrimLeft(file, "/") != "" {
		return NewSecret(sqliteScheme + r.resolve(n, strings.TrimPrefix(file, "//"))), true
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		r.fail(n, "the database is not of the form sqlite:<file> or postgres://user@host/name")
		return Secret{}, false
	}
	at := postgresURLOf(u, r.env)
	if at.ambiguous() {
		r.fail(n, "the database's URL has an @ behind its host: write it as %%40")
		return Secret{}, false
	}
	return NewSecret(at.verified(text)), true
}

const sqliteScheme = "sqlite:"

// resolve makes a path of the file relative to the file's folder.
func (r *reader) resolve(n *node, path string) string {
	if n != nil && n.fromEnvironment || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.name), path)
}

// network parses a network in CIDR form.
func (r *reader) network(n *node) (netip.Prefix, bool) {
	text, ok := r.text(n)
	if !ok {
		return netip.Prefix{}, false
	}
	p, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		r.fail(n, "%.60q is not a network, such as 10.0.0.0/8 or 127.0.0.1/32", text)
	case p != p.Masked():
		r.fail(n, "%.60q is not a network: did you mean %s?", text, p.Masked())
	default:
		return p, true
	}
	return netip.Prefix{}, false
}
