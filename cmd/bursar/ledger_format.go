package main

import "github.com/bursar/bursar/signer/command"

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

func (cmd *ledgerExportCommand) period(x *export) (err error) {
	x.since, x.until, err = command.Span{Since: cmd.Since, Until: cmd.Until}.Times()
	return err
}
