package outgoing_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// onPostgres are the tests that run on PostgreSQL too, besides those of random histories and faults. Between them they
// make every statement that any test of this package makes, as store/storetest/cover finds out, and they include those
// about leases and locks: the others only bring other rows to the same statements, in steps of a single process.
var onPostgres = []string{
	"TestARefillMovesCustodyOnce",
	"TestAMixedSpendUsesUpColdOutputs",
	"TestAPendingColdSpendIsBookedWithoutItsWallet",
	"TestASpendFromColdThatNoEndpointProvesIsBooked",
	"TestAColdWalletThatPaysACustomerLosesThat",
	"TestAWithdrawalWaitsForARefill",
	"TestWhatExceedsTheCeilingGoesToColdOnce",
	"TestWhatLeavesAColdWalletForOthersIsALossAndAlarms",
	"TestAContradictionIsNotPaidFromWhereItWasMoved",
	"TestABoundOnTheFeeHoldsUpNobodyElse",
	"TestACustomerIsNotifiedOnceOfAPaymentSentAgain",
	"TestADepositReorgedOutAfterItsRefundIsALoss",
	"TestAForgedDepositIsNotPaid",
	"TestAForgedForgottenTransactionIsNotSigned",
	"TestAForgedPendingDepositIsNotPaid",
	"TestAHangingSweepKeepsItsOwnID",
	"TestAHeldPaymentIsIncludedAfterAReorg",
	"TestALeaseThatIsLostAnywhereEndsTheStep",
	"TestALeaseThatIsLostEndsTheStep",
	"TestALostLeaseConsolidatesNothing",
	"TestALostLeaseEndsEveryPartOfAStep",
	"TestALostLeaseRaisesNoAlarm",
	"TestACompromiseOrderUsesUpALostNonce",
	"TestALostNonceIsUsedUp",
	"TestALostNonceOfAnOldHotWalletHoldsBackThePresentOne",
	"TestATheftWithALostNonceHalts",
	"TestNothingIsPaidBeforeNoncesAreLookedAt",
	"TestALostSweepHoldsUpNoOther",
	"TestANonceOfTheNextLeaseHolderHaltsNothing",
	"TestAPaymentThatFailsAgainEndsTheFreeze",
	"TestAPaymentThatNoRequestAskedForIsNotMadeAgain",
	"TestAPaymentThatWasNotMadeByAnotherIsMadeAgain",
	"TestAnAdoptedFailureThatPaysAfterAllIsAdopted",
	"TestARefundThatAnExternalSpendMayHaveMadeIsDecidedByItsResolution",
	"TestARefundSignedWhileAnEarlierOneBecameOpenIsDropped",
	"TestAReorgBeforeFinality",
	"TestAForgottenPaymentIsPutBackWithItsOrder",
	"TestAnOrderThatWaitedTooLongIsRefunded",
	"TestAnOrderWhoseFeeIsNeverMetEndsWithItsTime",
	"TestAnOrderWhoseTransactionExpiredIsRefunded",
	"TestASentWithdrawalIsPaidOnceWhateverItsStatus",
	"TestASettledRefundThatExpiresAfterAllIsMadeAgain",
	"TestASignatureWithoutTheLeaseStaysCounted",
	"TestAStepWithoutWorkLocksNothing",
	"TestASweepIsSettledAfterItsDeposits",
	"TestASweepThatCannotBeReadIsNotSettled",
	"TestASweepThatHangsGoesOnWithTheNextDeposit",
	"TestATokenThatTakesAFeeIsNoFullPayment",
	"TestATransactionIsVoidedThoughTopUpsWaitForAPlace",
	"TestATransactionPutBackBesideItsOtherVersionEnds",
	"TestWhatWasPutBackEndsWithTheChangeThatAnotherVersionReserves",
	"TestAReservedOldOutputIsNotConsolidated",
	"TestAWithdrawalWithARaisedAmountIsNotPaid",
	"TestAnAbandonedTransactionThatIsIncludedCounts",
	"TestAnUpgradeIsSealedThoughSomethingIsBookedFirst",
	"TestFailedBuildsOfAStepAreBounded",
	"TestTheUnitOfAVoidingTransactionIsFound",
	"TestNothingIsEvaluatedAgainWithoutAnAnswerOrTheLease",
	"TestNothingIsEvaluatedAgainWithoutTheLease",
	"TestOnASharedAddressAnAlarmSaysWhatIsHeldUp",
	"TestTheHourlyLimitHoldsBackTheRest",
	"TestWhatIsNotKeptIsReadFromTheNode",
	"TestWithoutTheLeaseNoAlarmAboutHistoryIsRaised",
}

func TestMain(m *testing.M) {
	storetest.OnPostgres(onPostgres...)
	storetest.Main(m)
}

// TestTheTestsOnPostgresExist checks that none of them was renamed: it would run on SQLite only.
func TestTheTestsOnPostgresExist(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				there[f.Name.Name] = true
			}
		}
	}
	for _, name := range onPostgres {
		if !there[name] {
			t.Errorf("%s runs on PostgreSQL and does not exist", name)
		}
	}
}
