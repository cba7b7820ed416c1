package client

import (
	"context"
	"iter"
)

// Page selects a part of a list. The zero Page is the first, of up to 1000 items.
type Page struct {
	Limit  int    // 1 to 1000; 0: 1000
	Cursor string // NextCursor of the page before
}

// List is one page, newest first. NextCursor is empty on the last.
type List[T any] struct {
	Items      []T
	NextCursor string
}

func (p Page) values(more map[string]any) map[string]any {
	values := map[string]any{}
	for name, v := range more {
		values[name] = v
	}
	if p.Limit != 0 {
		values["limit"] = p.Limit
	}
	if p.Cursor != "" {
		values["cursor"] = p.Cursor
	}
	return values
}

// All reads a list page by page while it is ranged over, and ends after the first error:
//
//	for wallet, err := range client.All(ctx, c.Wallets) { … }
func All[T any](ctx context.Context, list func(context.Context, Page) (List[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page := (Page{}); ; {
			part, err := list(ctx, page)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range part.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Cursor = part.NextCursor; page.Cursor == "" {
				return
			}
		}
	}
}
