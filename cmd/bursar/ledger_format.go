package main

import "time"

// The formats of tables, beside those of plain-text accounting and camt.053.
const (
	formatCSV  = "csv"
	formatJSON = "json"
)

// isPlain reports whether a format is one of plain-text accounting.
func isPlain(format string) bool {
	return format == formatBeancount || format == formatHledger || format == formatLedger
}

// isFiat reports whether a format is of one account in one fiat currency.
func isFiat(format string) bool { return format == formatCamt || format == formatQuickBooks }

// formatted refuses a format that is not known or not for these books: those of one account do not balance by
// themselves, and what is for the programs of banks and shops is of one account in one fiat currency.
func (cmd *ledgerExportCommand) formatted() error {
	switch {
	case cmd.Format == "" || cmd.Format == formatCSV || cmd.Format == formatJSON:
		return nil
	case isPlain(cmd.Format):
		if !cmd.All {
			return wrong("--format %s is for the whole journal: use --all", cmd.Format)
		}
		return nil
	case isFiat(cmd.Format):
		if cmd.Account.IsZero() || cmd.Value == "" || cmd.Since == "" || cmd.Until == "" {
			return wrong("--format %s takes --account, --value, --since and --until", cmd.Format)
		}
		return nil
	}
	return wrong("--format %q is none of beancount, hledger, ledger, csv, json, camt.053 and qbo-csv", cmd.Format)
}

func (cmd *ledgerExportCommand) period(x *export) error {
	for _, flag := range []struct {
		name, text string
		to         *time.Time
	}{{"--since", cmd.Since, &x.since}, {"--until", cmd.Until, &x.until}} {
		if flag.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, flag.text)
		if err != nil {
			at, err = time.Parse(time.DateOnly, flag.text)
		}
		if err != nil {
			return wrong("%s %q is not a time such as 2026-01-01 or 2026-01-01T00:00:00Z", flag.name, flag.text)
		}
		*flag.to = at.UTC()
	}
	if !x.until.IsZero() && !x.until.After(x.since) {
		return wrong("--until must be later than --since")
	}
	return nil
}
