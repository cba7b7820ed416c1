package oversight

import (
	"fmt"
	"html/template"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Chart is a picture of the numbers in its table, which has the day first and says the same in words.
type Chart struct {
	Title string
	SVG   template.HTML // made of numbers and days alone
	Table Table
}

// The picture's size, in its own units. The bars take all but a line of text above and below.
const (
	chartWidth  = 620
	chartHeight = 140
	chartTop    = 16
	chartFoot   = 16
)

// bars draws one bar for each value. What the picture says stands in its title for those who do not see it.
func bars(title string, days []time.Time, values []bursar.Amount, most string) template.HTML {
	highest := bursar.Amount{}
	for _, v := range values {
		if highest.Less(v) {
			highest = v
		}
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="chart" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, chartHeight,
		template.HTMLEscapeString(title))
	fmt.Fprintf(&svg, `<text x="0" y="11">%s</text>`, template.HTMLEscapeString(most))
	width := chartWidth / max(1, len(values))
	const plotHeight = chartHeight - chartTop - chartFoot
	for i, v := range values {
		height := share(v, highest, plotHeight)
		fmt.Fprintf(&svg, `<rect x="%d" y="%d" width="%d" height="%d"/>`, i*width, chartTop+plotHeight-height,
			max(1, width-2),
			height)
	}
	fmt.Fprintf(&svg, `<line x1="0" y1="%d" x2="%d" y2="%d"/>`, chartTop+plotHeight, chartWidth, chartTop+plotHeight)
	if len(days) > 0 {
		fmt.Fprintf(&svg, `<text x="0" y="%d">%s</text>`, chartHeight-2, days[0].Format(time.DateOnly))
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end">%s</text>`, chartWidth, chartHeight-2,
			days[len(days)-1].Format(time.DateOnly))
	}
	svg.WriteString(`</svg>`)
	return template.HTML(svg.String())
}

// share is how much of a height a value takes where the highest takes all. What is above zero is seen.
func share(v, highest bursar.Amount, height int64) int64 {
	if v.IsZero() || highest.IsZero() {
		return 0
	}
	n := new(big.Int).Mul(v.Big(), big.NewInt(height))
	return max(2, n.Quo(n, highest.Big()).Int64())
}

// chartDays is how many days the charts show, today included.
const chartDays = 30

// month returns the days of the charts.
func month(now time.Time) []time.Time {
	today := now.UTC().Truncate(24 * time.Hour)
	days := make([]time.Time, chartDays)
	for i := range days {
		days[i] = today.AddDate(0, 0, i-chartDays+1)
	}
	return days
}

// plotted are the figures that the charts show, with what takes back of each.
var plotted = []struct {
	key, title  string
	figure, off ledger.Figure
}{
	{"depositsPerDay", "Deposits credited per day", ledger.FigureDeposits, ledger.FigureDepositsReversed},
	{"payoutsPerDay", "Payouts per day", ledger.FigurePayouts, ledger.FigurePayoutsReversed},
	{"feesPerDay", "Fees earned per day", ledger.FigureFees, ledger.FigureFeesReversed},
	{"gasPerDay", "Network fees paid per day", ledger.FigureGas, ledger.FigureGasReversed},
}

// charts draws the month of one currency.
func charts(c bursar.Currency, days []time.Time, figures []store.DayFigure) (list []Chart) {
	for _, p := range plotted {
		values, taken, lines := make([]bursar.Amount, len(days)), make([]bursar.Amount, len(days)), make([]int64, len(days))
		for _, f := range figures {
			i := slices.IndexFunc(days, f.Day.Equal)
			switch {
			case i < 0 || f.Asset != c.Code:
			case f.Figure == p.figure:
				values[i], lines[i] = f.Amount, f.Lines
			case f.Figure == p.off:
				taken[i] = f.Amount
			}
		}
		list = append(list, chartOf(c, p.key, p.title, days, values, taken, lines))
	}
	for _, p := range plottedWaits {
		list = append(list, waitChart(c, p.key, p.title, days, ofDays(days, c, figures, p.total),
			ofDays(days, c, figures, p.longest)))
	}
	return list
}

func chartOf(c bursar.Currency, key, title string, days []time.Time, values, taken []bursar.Amount,
	lines []int64) Chart {
	t := Table{Key: key, Title: title + ", " + string(c.Code), Empty: "Nothing in these 30 days.", Columns: []Column{
		{"day", "Day (UTC)", Plain},
		{"number", "Number", Figure},
		{"amount", "Amount", Figure},
		{"takenBack", "Taken back", Figure},
		{"currency", "Currency", Plain},
	}}
	highest := bursar.Amount{}
	for i, day := range days {
		if values[i].IsZero() && taken[i].IsZero() {
			continue
		}
		if highest.Less(values[i]) {
			highest = values[i]
		}
		t.Rows = append(t.Rows, []Cell{text(day.Format(time.DateOnly)), number(lines[i]), text(c.Exact(values[i])),
			text(c.Exact(taken[i])), text(string(c.Code))})
	}
	say := "the highest day has " + c.Text(highest)
	if highest.IsZero() {
		say = "nothing"
	}
	full := fmt.Sprintf("%s in %s, %s to %s: %s", title, c.Code, days[0].Format(time.DateOnly),
		days[len(days)-1].Format(time.DateOnly), say)
	return Chart{Title: title, SVG: bars(full, days, values, c.Text(highest)), Table: t}
}
