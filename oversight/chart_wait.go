package oversight

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// plottedWaits are the charts of how long things took.
var plottedWaits = []struct {
	key, title     string
	total, longest ledger.Figure
}{
	{"creditLagPerDay", "From seen to credited, mean of each day", ledger.FigureCreditWait, ledger.FigureCreditLongest},
	{"payoutLagPerDay", "From requested to paid, mean of each day", ledger.FigurePayoutWait, ledger.FigurePayoutLongest},
}

// ofDays returns one figure of a currency for each day.
func ofDays(days []time.Time, c bursar.Currency, figures []store.DayFigure, of ledger.Figure) []store.DayFigure {
	list := make([]store.DayFigure, len(days))
	for _, f := range figures {
		if i := slices.IndexFunc(days, f.Day.Equal); i >= 0 && f.Asset == c.Code && f.Figure == of {
			list[i] = f
		}
	}
	return list
}

// waitChart draws the mean time of each day; its table has the longest too.
func waitChart(c bursar.Currency, key, title string, days []time.Time, totals, longest []store.DayFigure) Chart {
	t := Table{Key: key, Title: title + ", " + string(c.Code), Empty: "Nothing in these 30 days.", Columns: []Column{
		{"day", "Day (UTC)", Plain},
		{"number", "Number", Figure},
		{"mean", "Mean, seconds", Figure},
		{"longest", "Longest, seconds", Figure},
		{"currency", "Currency", Plain},
	}}
	values, highest := make([]bursar.Amount, len(days)), bursar.Amount{}
	for i, day := range days {
		if totals[i].Lines == 0 {
			continue
		}
		mean := new(big.Int).Quo(totals[i].Amount.Big(), big.NewInt(totals[i].Lines))
		values[i] = bursar.Units(mean.Uint64())
		if highest.Less(values[i]) {
			highest = values[i]
		}
		t.Rows = append(t.Rows, []Cell{text(day.Format(time.DateOnly)), number(totals[i].Lines), text(mean.String()),
			text(longest[i].Amount.String()), text(string(c.Code))})
	}
	most := "nothing"
	if len(t.Rows) > 0 {
		most = "the slowest day took " + seconds(highest)
	}
	full := fmt.Sprintf("%s in %s, %s to %s: %s", title, c.Code, days[0].Format(time.DateOnly),
		days[len(days)-1].Format(time.DateOnly), most)
	return Chart{Title: title, SVG: bars(full, days, values, seconds(highest)), Table: t}
}

// seconds writes a time for people.
func seconds(n bursar.Amount) string {
	whole, _ := n.Uint64()
	return age(time.Unix(int64(whole), 0), time.Unix(0, 0))
}
