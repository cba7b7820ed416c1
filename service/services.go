package service

import (
	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

func (s *Service) addServices() {
	walletChains, payChains, hot := map[bursar.ChainID]wallet.Chain{}, map[bursar.ChainID]withdrawal.Chain{},
		map[bursar.ChainID]string{}
	chains, old := map[bursar.ChainID]unattributed.ChainContext{}, map[bursar.ChainID][]string{}
	for id, w := range s.workers {
		walletChains[id], payChains[id], hot[id] = w.chain, w.chain, w.hot.Base
		old[id] = basesOf(w.old)
		chains[id] = unattributed.ChainContext{Chain: w.chain, Creditor: w.follower.Deposits, Hot: w.hot.Base,
			Old: old[id]}
	}
	s.Unattributed = &unattributed.Service{
		DB:       s.DB,
		Chains:   chains,
		Registry: s.Registry,
		IDs:      s.IDs,
		Log:      s.log,
		Resolved: s.decided,
		Behind:   s.behind,
	}
	s.Accounts = account.NewService(s.DB, s.IDs)
	s.parts.TestHooks.accounts(s.Accounts)
	s.Wallets = wallet.NewService(s.DB, s.Keys, walletChains, s.Registry, s.IDs, s.parts.receivers())
	s.Wallets.Suspended, s.Wallets.Cold = s.refuses, map[string]bool{}
	s.Wallets.Ended = s.epochEnded
	for _, base := range bursar.ColdBases(s.ColdWallets()) {
		s.Wallets.Cold[base] = true
	}
	s.TestDeliveries = &webhook.TestDeliveries{DB: s.DB, IDs: s.IDs, Receivers: s.parts.receivers()}
	s.Withdrawals = withdrawal.NewService(withdrawal.Config{
		Leave:         outgoing.EndCancelled,
		Unpaid:        s.unpaid,
		DB:            s.DB,
		Chains:        payChains,
		Hot:           hot,
		Old:           old,
		Registry:      s.Registry,
		IDs:           s.IDs,
		Rates:         s.parts.Rates,
		Log:           s.log,
		Suspended:     s.refuses,
		Behind:        s.behind,
		Queued:        func(id bursar.ChainID) { hint(s.workers[id].payouts) },
		EventRecorded: s.Deliverer.WakeFor,
		Prices:        s.parts.Prices,
	})
	s.Limits = &withdrawal.Limits{DB: s.DB, Registry: s.Registry, Log: s.log}
	s.Charges = s.newCharges()
}
