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
	source, condition, args, err := tx.eventsOf(outlines)
	if err != nil {
		return nil, err
	}
	found, err := deliveryColumns.rows(ctx, tx.Tx, "read due deliveries", `FROM `+source+` WHERE `+condition, args...)
	if err != nil {
		return nil, err
	}
	of := make(map[int64]Delivery, len(found))
	for _, d := range found {
		of[d.Number] = d
	}
	whole := make([]Delivery, 0, len(found))
	for _, o := range outlines {
		if d, still := of[o.Number]; still {
			whole = append(whole, d)
		}
	}
	return whole, nil
}

// eventsOf returns a source and a condition of those of some events that are due. Each is looked up by its number: an
// index of what is due would lead through the backlog that the outlines passed over.
func (tx *Tx) eventsOf(outlines []Delivery) (source, condition string, args []any, err error) {
	if tx.postgres {
		numbers := make([]any, len(outlines))
		for i, d := range outlines {
			numbers[i] = d.Number
		}
		source, condition, args, err = sought(tx, "events", "e", []string{"number"}, numbers, micros(tx.now))
		return source, condition + ` AND status = 'pending' AND next_at <= $1`, args, err
	}
	numbers := make([]int64, len(outlines))
	for i, d := range outlines {
		numbers[i] = d.Number
	}
	those, args := tx.numbers(numbers, micros(tx.now))
	return "events", `number IN (` + those + `) AND +status = 'pending' AND +next_at <= $1`, args, nil
}
