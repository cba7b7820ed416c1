package service

import "github.com/bursar/bursar"

// PaidForNothing returns the tokens whose withdrawals cost customers nothing: the operator's own funds pay the network
// for each of them, as often as a customer likes.
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

// warnOfGas logs what is paid out for nothing, once at the start.
func (s *Service) warnOfGas() {
	for _, code := range s.PaidForNothing() {
		s.log.Warn("withdrawals of a token cost customers nothing; the operator's own funds pay the network", "currency",
			code, "remedy", "set its withdrawal_fee")
	}
}
