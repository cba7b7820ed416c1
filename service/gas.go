package service

import "github.com/bursar/bursar"

// PaidForNothing returns the tokens whose withdrawals are free of charge: operator funds pay the network fee of each of
// them, as often as a customer withdraws.
func (s *Service) PaidForNothing() (codes []bursar.CurrencyCode) {
	for _, id := range s.order {
		for _, currency := range s.Registry.On(id) {
			if currency.IsToken() && currency.WithdrawalFee == (bursar.Fee{}) {
				codes = append(codes, currency.Code)
			}
		}
	}
	return codes
}

// warnOfGas logs tokens without a withdrawal fee once at startup.
func (s *Service) warnOfGas() {
	for _, code := range s.PaidForNothing() {
		s.log.Warn("withdrawals of a token have no fee; network fees are paid from operator funds", "currency",
			code, "remedy", "set its withdrawal_fee")
	}
}
