package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
)

// searchPath is the page of what was searched for.
const searchPath = "/search"

// addActs adds to what a search has found the acts of a request, where its ID was looked for by somebody who may read
// the log of acts.
func (c *Console) addActs(v *visit, s *oversight.Sheet) error {
	id, err := bursar.ParseID(strings.TrimSpace(v.form.Get("q")))
	if err != nil || v.person.May(operator.VerbAudit, bursar.ID{}) != nil {
		return nil //nolint:nilerr // anything else is no request's ID
	}
	var list []store.Act
	err = c.DB.View(v.ctx, func(tx *store.Tx) error {
		list, err = tx.Acts().List(v.ctx, store.ActFilter{Request: id.String()}, store.Page{Limit: actsShown})
		return err
	})
	if err != nil || len(list) == 0 {
		return err
	}
	t := oversight.Table{Key: "acts", Title: "Acts of this request", Columns: []oversight.Column{
		{Key: "number", Label: "Row", Kind: oversight.Figure},
		{Key: "at", Label: "At", Kind: oversight.Moment},
		{Key: "actor", Label: "Who", Kind: oversight.Written},
		{Key: "verb", Label: "Verb", Kind: oversight.Plain},
		{Key: "object", Label: "Object", Kind: oversight.Written},
		{Key: "after", Label: "After", Kind: oversight.Written},
	}}
	for _, a := range list {
		t.Rows = append(t.Rows, []oversight.Cell{
			{Text: strconv.FormatInt(a.Number, 10), Link: "/audit?request=" + id.String()},
			{Text: a.At.UTC().Format(time.RFC3339)},
			{Text: a.Actor},
			{Text: a.Verb},
			{Text: a.Object},
			{Text: a.Became},
		})
	}
	s.Tables = append(s.Tables, t)
	return nil
}
