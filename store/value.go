package store

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// micros keeps a time as microseconds since 1970 UTC; the zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is where a time kept by micros is scanned into.
type instant struct{ t *time.Time }

func (i instant) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan time: unexpected %T", src)
	}
	*i.t = time.Time{}
	if n != 0 {
		*i.t = time.UnixMicro(n).UTC()
	}
	return nil
}

// memo is where an address's memo column is scanned into: -1 stands for none.
type memo struct{ a *bursar.Address }

func (m memo) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan memo: unexpected %T", src)
	}
	m.a.HasMemo = n >= 0
	m.a.Memo = uint32(max(n, 0))
	return nil
}

func memoValue(a bursar.Address) int64 {
	if !a.HasMemo {
		return -1
	}
	return int64(a.Memo)
}

// duration is where a time kept as microseconds is scanned into.
type duration struct{ d *time.Duration }

func (d duration) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("scan duration: unexpected %T", src)
	}
	*d.d = time.Duration(n) * time.Microsecond
	return nil
}

// sha is where a SHA-256 hash is scanned into.
type sha struct{ hash *[sha256.Size]byte }

func (h sha) Scan(src any) error {
	hash, ok := src.([]byte)
	if !ok || copy(h.hash[:], hash) != len(h.hash) {
		return fmt.Errorf("scan hash: unexpected %T", src)
	}
	return nil
}

// tuples writes n groups of width placeholders, "($1,$2),($3,$4)", starting after offset.
func tuples(n, width, offset int) string {
	var b strings.Builder
	b.Grow(n * (width*len("$00,") + len("(),")))
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		for j := range width {
			b.WriteByte("(,"[min(j, 1)])
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(offset + i*width + j + 1))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// list writes n placeholders, "$1,$2,$3", starting after offset.
func list(n, offset int) string {
	var b strings.Builder
	b.Grow(n * len("$00,"))
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(offset + i + 1))
	}
	return b.String()
}

// codeArgs returns arguments with codes behind them.
func codeArgs(codes []bursar.CurrencyCode, before ...any) []any {
	for _, code := range codes {
		before = append(before, string(code))
	}
	return before
}

// joinText joins scopes and the like into one column.
func joinText[S ~string](items []S) string {
	texts := make([]string, len(items))
	for i, s := range items {
		texts[i] = string(s)
	}
	return strings.Join(texts, ",")
}

// texts is where a column written by joinText is scanned into.
type texts[S ~string] struct{ list *[]S }

func (t texts[S]) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("scan list of texts: unexpected %T", src)
	}
	*t.list = splitText[S](text)
	return nil
}

func splitText[S ~string](text string) []S {
	var items []S
	for s := range strings.SplitSeq(text, ",") {
		if s != "" {
			items = append(items, S(s))
		}
	}
	return items
}

var _ driver.Valuer = bursar.ID{}
