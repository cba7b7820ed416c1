package chaintest

// suite lists every conformance test, in the order of a payment's life.
var suite = []conformanceTest{
	{"address is deterministic", testAddressIsDeterministic, nil},
	{"parsed address is canonical", testParsedAddressIsCanonical, nil},
	{"bad address is refused", testBadAddressIsRefused, nil},

	{"head and blocks agree", testHeadAndBlocksAgree, nil},
	{"any limit gives the same blocks", testAnyLimitGivesTheSameBlocks, nil},
	{"unknown block is off chain", testUnknownBlockIsOffChain, nil},
	{"cancelled context is an error", testCancelledContextIsAnError, nil},
	{"find names the block", testFindNamesTheBlock, nil},
	{"one endpoint alone", testOneEndpointAlone, []need{needsEndpointReader}},
	{"every answer from another backend", testEveryAnswerFromAnotherBackend, []need{needsBalancer}},

	{"payment appears once", testPaymentAppearsOnce, nil},
	{"several payments in one transaction", testSeveralPaymentsInOneTransaction, nil},
	{"address made in sync is seen", testAddressMadeInSyncIsSeen, nil},
	{"sync follows the block", testSyncFollowsTheBlock, nil},
	{"failed payment delivers nothing", testFailedPaymentDeliversNothing, []need{needsFailures}},

	{"reorg of one block", testReorgOfOneBlock, []need{needsReorgs}},
	{"reorg of three", testReorgOfThree, []need{needsReorgs}},
	{"reorg of fifty", testReorgOfFifty, []need{needsReorgs}},

	{"withdrawal is exact", testWithdrawalIsExact, nil},
	{"several withdrawals in one transaction", testSeveralWithdrawalsInOneTransaction, []need{needsBatches}},
	{"sweep empties an address", testSweepEmptiesAnAddress, []need{needsOwnAddresses}},
	{"two transactions in one block", testTwoTransactionsInOneBlock, []need{needsQueue}},
	{"unconfirmed change is spent", testUnconfirmedChangeIsSpent, []need{needsUTXOs, needsQueue}},
	{"fee bump replaces", testFeeBumpReplaces, []need{needsReplacement}},
	{"fee bump respects the limit", testFeeBumpRespectsTheLimit, []need{needsReplacement}},
	{"fee bump without bytes", testFeeBumpWithoutBytes, []need{needsReplacement}},
	{"used nonce is external", testUsedNonceIsExternal, []need{needsAccounts, needsNonces}},
	{"expiry", testExpiry, nil},
	{"failed transaction costs its fee", testFailedTransactionCostsItsFee, []need{needsFailures}},
	{"external spend is seen", testExternalSpendIsSeen, nil},
	{"failed external spend", testFailedExternalSpend, []need{needsFailures}},
	{"forgotten transactions are seen", testForgottenTransactionsAreSeen, []need{needsOwnAddresses, needsAccounts}},

	{"too little funds", testTooLittleFunds, nil},
	{"two payments beyond the balance", testTwoPaymentsBeyondTheBalance, nil},
	{"two token payments beyond the balance", testTwoTokenPaymentsBeyondTheBalance, []need{needsTokens}},
	{"sweep leaves what is reserved", testSweepLeavesWhatIsReserved, []need{needsOwnAddresses, needsAccounts}},
	{"fee limit is kept", testFeeLimitIsKept, nil},
	{"refused payments", testRefusedPayments, []need{needsRefusals}},
	{"wrong signatures are refused", testWrongSignaturesAreRefused, nil},
	{"digests bind contents", testDigestsBindContents, nil},

	{"holdings equal the node's balances", testHoldingsEqualTheNodesBalances, nil},

	{"token payment", testTokenPayment, []need{needsTokens}},
	{"token withdrawal", testTokenWithdrawal, []need{needsTokens}},
	{"token sweep needs gas", testTokenSweepNeedsGas, []need{needsTokens, needsOwnAddresses}},
	{"token payment delivers", testTokenPaymentDelivers, []need{needsTokens}},
	{"silent token delivers nothing", testSilentTokenDeliversNothing, []need{needsMisbehaving}},
	{"taxed token delivers less", testTaxedTokenDeliversLess, []need{needsMisbehaving}},
}
