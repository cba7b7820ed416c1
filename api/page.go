package api

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/bursar/bursar/store"
)

// listName identifies a list, so that a cursor of one list is never used in another.
type listName byte

const (
	walletList     listName = 'w'
	depositList    listName = 'd'
	chargeList     listName = 'c'
	withdrawalList listName = 'o'
	ledgerList     listName = 'l'
	deliveryList   listName = 'e'

	destinationList listName = 't'
	feedList        listName = 'f'
	linkList        listName = 'p'
	statementList   listName = 's'
	requestList     listName = 'r'
)

// cursorBytes is the size of a cursor: the list's name and the number of the last item shown. A cursor is a position,
// not a permission: the key alone decides whose items are listed.
const cursorBytes = 9

func (l listName) cursor(number int64) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64([]byte{byte(l)}, uint64(number)))
}

func (l listName) parseCursor(s string) (int64, bool) {
	number, ok := l.parsePosition(s)
	return number, ok && number > 0
}

// parsePosition is parseCursor that takes the position before the first item too, which is 0.
func (l listName) parsePosition(s string) (int64, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) != cursorBytes {
		return 0, false
	}
	number := int64(binary.BigEndian.Uint64(raw[1:]))
	return number, number >= 0 && l.cursor(number) == s
}

// cut removes the one item that was read beyond the page, and returns the cursor of the next page, "" at the list's
// end.
func cut[T any](items []T, page store.Page, of listName, number func(T) int64) ([]T, string) {
	if len(items) < page.Limit {
		return items, ""
	}
	items = items[:page.Limit-1]
	return items, of.cursor(number(items[len(items)-1]))
}

// cutAt is cut for a list that looked at a bounded number of items: where these have no whole page, next is the number
// below which it continues; 0 otherwise.
func cutAt[T any](next int64, items []T, page store.Page, of listName, number func(T) int64) ([]T, string) {
	if next > 0 {
		return items, of.cursor(next)
	}
	return cut(items, page, of, number)
}

// each maps a list, and returns an empty one for nil: a response has [] and not null. Items of a currency that is no
// longer configured are left out.
func each[T, View any](items []T, view func(T) (View, error)) ([]View, error) {
	views := make([]View, 0, len(items))
	for _, item := range items {
		v, err := view(item)
		if errors.Is(err, errRemoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}
