package main

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// camtWriter writes XML and keeps its first error.
type camtWriter struct {
	out *bufio.Writer
	xml *xml.Encoder
	x   *export
	err error
}

func (w *camtWriter) put(name string, value any) {
	if w.err == nil {
		w.err = w.xml.EncodeElement(value, xml.StartElement{Name: xml.Name{Local: name}})
	}
}

func (w *camtWriter) raw(text string) {
	if w.err == nil {
		w.err = errors.Join(w.xml.Flush(), writeAll(w.out, text))
	}
}

func writeAll(out *bufio.Writer, text string) error {
	_, err := out.WriteString(text)
	return err
}

// head writes what stands before the entries.
func (w *camtWriter) head(s camtStatement) {
	x := w.x
	id := strings.ReplaceAll(x.owner.String(), "-", "")
	period := x.until.UTC().Format("060102")
	made := x.db.Now().UTC().Format("2006-01-02T15:04:05Z")
	w.raw(xml.Header + `<Document xmlns="` + camtNamespace + `"><BkToCstmrStmt>` + "\n")
	w.put("GrpHdr", struct {
		ID      string `xml:"MsgId"`
		CreDtTm string
	}{id[:22] + period, made})
	w.raw("\n<Stmt>\n")
	w.put("Id", id[:22]+period+string(x.value.Code))
	w.put("CreDtTm", made)
	w.put("FrToDt", struct{ FrDtTm, ToDtTm string }{instant(x.since), instant(x.until)})
	w.put("Acct", camtAccount{ID: id, Ccy: x.value.Code})
	w.balance("OPBD", s.opening, x.since)
	w.balance("CLBD", s.closing, x.until)
}

type camtAccount struct {
	ID  string `xml:"Id>Othr>Id"`
	Ccy bursar.CurrencyCode
}

type camtAmount struct {
	Ccy  bursar.CurrencyCode `xml:"Ccy,attr"`
	Text string              `xml:",chardata"`
}

func (w *camtWriter) amount(minorUnits *big.Int) camtAmount {
	text, err := w.x.fiat(minorUnits)
	if err != nil && w.err == nil {
		w.err = err
	}
	return camtAmount{w.x.value.Code, text}
}

// side is CRDT for what the account has gained.
func side(minorUnits *big.Int) string {
	if minorUnits.Sign() < 0 {
		return "DBIT"
	}
	return "CRDT"
}

func (w *camtWriter) balance(code string, minorUnits *big.Int, at time.Time) {
	w.put("Bal", struct {
		Code      string `xml:"Tp>CdOrPrtry>Cd"`
		Amt       camtAmount
		CdtDbtInd string
		At        string `xml:"Dt>DtTm"`
	}{code, w.amount(minorUnits), side(minorUnits), instant(at)})
}

type camtEntry struct {
	NtryRef     string
	Amt         camtAmount
	CdtDbtInd   string
	RvslInd     bool            `xml:",omitempty"`
	Status      string          `xml:"Sts>Cd"`
	Booked      string          `xml:"BookgDt>DtTm"`
	Value       string          `xml:"ValDt>DtTm"`
	AcctSvcrRef string          `xml:",omitempty"`
	Kind        string          `xml:"BkTxCd>Prtry>Cd"`
	EndToEnd    string          `xml:"NtryDtls>TxDtls>Refs>EndToEndId"`
	Remittance  *camtRemittance `xml:"NtryDtls>TxDtls>RmtInf"`
	Text        string          `xml:"AddtlNtryInf"`
}

type camtRemittance struct{ Ustrd string }

// entry writes one movement. What it was in the account's currency, and where that moved, is text.
func (w *camtWriter) entry(m camtMovement) {
	about, end := m.Movement.Deposit, "NOTPROVIDED"
	if about.IsZero() {
		about = m.Movement.Withdrawal
	}
	if !m.Movement.Withdrawal.IsZero() && m.Counterparty != "" && len(m.Counterparty) <= 35 {
		end = m.Counterparty
	}
	text := fmt.Sprintf("%s at %s %s, %s", m.text, m.Rate, w.x.value.Code, m.Part)
	if m.Address != "" {
		text += ", to " + m.Address
	}
	if m.HashID != "" {
		text += ", in " + m.HashID
	}
	var remittance *camtRemittance
	if m.Counterparty != "" {
		remittance = &camtRemittance{cut(m.Counterparty, 140)}
	}
	service := ""
	if !about.IsZero() {
		service = strings.ReplaceAll(about.String(), "-", "")
	}
	w.put("Ntry", camtEntry{
		NtryRef:     fmt.Sprintf("%d/%d", m.Entry, m.Place),
		Amt:         w.amount(m.value),
		CdtDbtInd:   side(m.value),
		RvslInd:     ledger.Reverses(m.Line.Kind, m.Line.Ref) != nil,
		Status:      "BOOK",
		Booked:      instant(m.At),
		Value:       instant(m.At),
		AcctSvcrRef: service,
		Kind:        cut(string(m.Line.Kind), 35),
		EndToEnd:    end,
		Remittance:  remittance,
		Text:        cut(text, 500),
	})
}

// end writes what stands behind the entries.
func (w *camtWriter) end(s camtStatement) {
	if s.left > 0 {
		w.put("AddtlStmtInf",
			fmt.Sprintf("%d movements before the period have no value and are not in the balances.", s.left))
	}
	w.raw("\n</Stmt></BkToCstmrStmt></Document>\n")
}

// cut shortens a text to some characters.
func cut(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
}
