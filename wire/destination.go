package wire

import (
	"time"

	"github.com/bursar/bursar"
)

// DestinationView is a destination as clients see it.
type DestinationView struct {
	DestinationID bursar.ID             `json:"destinationID"`
	Currencies    []bursar.CurrencyCode `json:"currencies"` // those that may go there
	Address       string                `json:"address"`
	Label         string                `json:"label"`
	Usable        bool                  `json:"usable"`
	UsableFrom    time.Time             `json:"usableFrom"`
	CreatedAt     time.Time             `json:"createdAt"`
}

// Destination returns a destination as clients see it at a time; ofFamily lists the currencies that addresses of its
// family take.
func Destination(d bursar.Destination, ofFamily []bursar.CurrencyCode, at time.Time) DestinationView {
	v := DestinationView{
		DestinationID: d.ID,
		Currencies:    ofFamily,
		Address:       d.Address.String(),
		Label:         d.Label,
		Usable:        d.UsableAt(at),
		UsableFrom:    d.UsableFrom,
		CreatedAt:     d.CreatedAt,
	}
	if d.Currency != "" {
		v.Currencies = []bursar.CurrencyCode{d.Currency}
	}
	return v
}
