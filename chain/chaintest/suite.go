package chaintest

// suite lists every conformance test, in the order of a payment's life.
var suite = []conformanceTest{
	{"address is deterministic", testAddressIsDeterministic},
	{"parsed address is canonical", testParsedAddressIsCanonical},
	{"bad address is refused", testBadAddressIsRefused},

	{"head and blocks agree", testHeadAndBlocksAgree},
	{"any limit gives the same blocks", testAnyLimitGivesTheSameBlocks},
	{"unknown block is off chain", testUnknownBlockIsOffChain},
	{"cancelled context is an error", testCancelledContextIsAnError},
	{"find names the block", testFindNamesTheBlock},
	{"one endpoint alone", testOneEndpointAlone},
	{"every answer from another backend", testEveryAnswerFromAnotherBackend},

	{"payment appears once", testPaymentAppearsOnce},
	{"several payments in one transaction", testSeveralPaymentsInOneTransaction},
	{"address made in sync is seen", testAddressMadeInSyncIsSeen},
	{"sync follows the block", testSyncFollowsTheBlock},
	{"failed payment is nothing", testFailedPaymentIsNothing},

	{"reorg of one block", testReorgOfOneBlock},
	{"reorg of three", testReorgOfThree},
	{"reorg of fifty", testReorgOfFifty},

	{"withdrawal is exact", testWithdrawalIsExact},
	{"several withdrawals in one transaction", testSeveralWithdrawalsInOneTransaction},
	{"sweep empties an address", testSweepEmptiesAnAddress},
	{"two spends in one block", testTwoSpendsInOneBlock},
	{"unconfirmed change is spent", testUnconfirmedChangeIsSpent},
	{"outbid replaces", testBumpReplaces},
	{"outbid respects the limit", testBumpRespectsTheLimit},
	{"outbid without bytes", testBumpWithoutBytes},
	{"used nonce is foreign", testUsedNonceIsExternal},
	{"expiry", testExpiry},
	{"failed spend", testFailedSpend},
	{"foreign spend is seen", testExternalSpendIsSeen},
	{"failed external spend", testFailedExternalSpend},
	{"forgotten spends are seen", testForgottenSpendsAreSeen},

	{"too little funds", testTooLittleFunds},
	{"two payments of more than there is", testTwoPaymentsOfMoreThanThereIs},
	{"two token payments of more than there is", testTwoTokenPaymentsOfMoreThanThereIs},
	{"sweep leaves what is spoken for", testSweepLeavesWhatIsSpokenFor},
	{"fee limit is kept", testFeeLimitIsKept},
	{"refused payments", testRefusedPayments},
	{"wrong signatures are refused", testWrongSignaturesAreRefused},
	{"digests bind contents", testDigestsBindContents},

	{"holdings are what the node says", testHoldingsAreWhatTheNodeSays},

	{"token payment", testTokenPayment},
	{"token withdrawal", testTokenWithdrawal},
	{"token sweep needs gas", testTokenSweepNeedsGas},
	{"token payment delivers", testTokenPaymentDelivers},
	{"silent token delivers nothing", testSilentTokenDeliversNothing},
	{"taxed token delivers less", testTaxedTokenDeliversLess},
}
