package store

import "context"

// outlineColumns are what of an event decides whether it may be sent now.
var outlineColumns = columnsOf([]column[Delivery]{
	{"number", func(d *Delivery) any { return &d.Number }},
	{"account_id", func(d *Delivery) any { return &d.AccountID }},
	{"kind", func(d *Delivery) any { return &d.Kind }},
	{"url", func(d *Delivery) any { return &d.URL }},
	{"tries", func(d *Delivery) any { return &d.Tries }},
	{"next_at", func(d *Delivery) any { return instant{&d.NextAt} }},
})

// DueOutlined is Due with the events' numbers, accounts, kinds, URLs, tries and times alone, for who will take few of
// them: their bodies are most of what they take. Whole reads the rest.
func (tx Deliveries) DueOutlined(ctx context.Context, leased []int64, limit int) ([]Delivery, error) {
	return tx.due(ctx, outlineColumns, leased, limit)
}

// Whole reads due events that are known by their outlines, in their order, in one statement. What was delivered,
// disabled or put off since is left out.
func (tx Deliveries) Whole(ctx context.Context, outlines []Delivery) ([]Delivery, error) {
	if len(outlines) == 0 {
		return nil, nil
	}
	if err := tx.byIndex(ctx); err != nil {
		return nil, err
	}
	numbers := make([]int64, len(outlines))
	for i, d := range outlines {
		numbers[i] = d.Number
	}
	those, args := tx.numbers(numbers, micros(tx.now))
	found, err := deliveryColumns.rows(ctx, tx.Tx, "read due deliveries",
		`FROM events WHERE number IN (`+those+`) AND status = 'pending' AND next_at <= $1`, args...)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]Delivery, len(found))
	for _, d := range found {
		of[d.Number] = d
	}
	whole := make([]Delivery, 0, len(found))
	for _, n := range numbers {
		if d, still := of[n]; still {
			whole = append(whole, d)
		}
	}
	return whole, nil
}
