package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/bursar/bursar/oversight"
)

type findCommand struct {
	Text string `arg:"" help:"An ID, a transaction's hash, an address in any spelling, a tag, a reference, or an exact amount such as '0.15 BTC'."`
	JSON bool   `name:"json" help:"Print one JSON object."`
}

// Help returns what is found, and an example.
func (findCommand) Help() string {
	return "Says what has exactly this text, in any account, and where the money of each deposit and withdrawal is now. " +
		"Exits with 1 if nothing has it. It needs the database, and neither the seed nor a node.\n\nExample:\n\n    " +
		"bursar find 4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
}

// maxFollowed bounds of how many deposits and withdrawals the way is shown.
const maxFollowed = 10

// followed is one object with its way.
type followed struct {
	Kind string          `json:"kind"`
	Way  oversight.Sheet `json:"sheet"`
}

// Run looks for a text, and follows the money of what it finds.
func (cmd *findCommand) Run(ctx context.Context, c *call) error {
	s, err := c.sheets(ctx)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	found, err := s.read(ctx, "/search", url.Values{"q": {cmd.Text}})
	if err != nil {
		return err
	}
	nothing := len(found.Tables)+len(found.Facts) == 0
	ways, err := follow(ctx, s, found)
	if err != nil {
		return err
	}
	if cmd.JSON {
		err = c.PrintJSON(struct {
			Found oversight.Sheet `json:"found"`
			Ways  []followed      `json:"ways"`
		}{found, append([]followed{}, ways...)})
	} else {
		err = cmd.print(c, found, ways)
	}
	if err == nil && nothing {
		err = errors.New("nothing has exactly this")
	}
	return err
}

func (cmd *findCommand) print(c *call, found oversight.Sheet, ways []followed) error {
	if err := c.showSheet(found, false); err != nil {
		return err
	}
	for _, w := range ways {
		if err := c.Say("\n%s %s", w.Way.Title, w.Way.Object); err != nil {
			return err
		}
		if err := c.steps(w.Way.Steps); err != nil {
			return err
		}
	}
	return nil
}

// follow reads the ways of the deposits and withdrawals among what was found.
func follow(ctx context.Context, s sheets, found oversight.Sheet) (ways []followed, err error) {
	for _, t := range found.Tables {
		path, moves := map[string]string{"deposits": "/deposits/{id}", "withdrawals": "/withdrawals/{id}"}[t.Key]
		if !moves {
			continue
		}
		for _, row := range t.Objects() {
			if len(ways) == maxFollowed {
				return ways, nil
			}
			sheet, err := s.read(ctx, path, url.Values{"id": {row["id"]}})
			if err != nil {
				return nil, err
			}
			ways = append(ways, followed{strings.TrimSuffix(t.Key, "s"), sheet})
		}
	}
	return ways, nil
}
