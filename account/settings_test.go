package account_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

// Settings that are given are set, the others stay, and a webhook to which nothing may be sent changes nothing.
func TestSettingsAreSetOneByOne(t *testing.T) {
	t.Parallel()
	each(t, func(s *harness) {
		id, yes, hook, inside := s.create(true).AccountID, true, "https://93.184.216.34/hook", "https://10.0.0.1/hook"
		for _, set := range []account.Settings{{NotifyPending: &yes}, {NotifyWithdrawals: &yes}, {Webhook: &hook}} {
			if _, err := s.Set(s.Context(), id, set); err != nil {
				s.Fatalf("setting %+v: %v, want no error", set, err)
			}
		}
		_, err := s.Set(s.Context(), id, account.Settings{Webhook: &inside, Receivers: netpolicy.Receivers{}})
		if got := code(s.T, err); got != bursar.CodeInvalidWebhook {
			s.Errorf("a webhook inside the network gives %q, want %q", got, bursar.CodeInvalidWebhook)
		}
		got, err := s.Set(s.Context(), id, account.Settings{})
		if err != nil || !got.NotifyPending || !got.NotifyWithdrawals || got.Webhook != hook {
			s.Errorf("the account is %+v: %v, want both notifications and the webhook %s", got, err, hook)
		}
		none := ""
		got, err = s.Set(s.Context(), id, account.Settings{Webhook: &none})
		if err != nil || got.Webhook != "" {
			s.Errorf("the account is %+v: %v, want no webhook of its own", got, err)
		}
	})
}

func TestSettingsOfAnUnknownAccountAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(s *harness) {
		if _, err := s.Set(s.Context(), bursar.ID{9}, account.Settings{}); !errors.Is(err, bursar.ErrNotFound) {
			s.Errorf("it gives %v, want %v", err, bursar.ErrNotFound)
		}
	})
}

// A webhook that answered 410 Gone is used again once it is set, and not by the change of another setting.
func TestAWebhookThatIsSetIsUsedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(s *harness) {
		id, yes, hook := s.create(true).AccountID, true, "https://93.184.216.34/hook"
		at := store.Receiver{Account: id, URL: hook}
		disabled := func() (is bool) {
			err := s.db.View(s.Context(), func(tx *store.Tx) error {
				all, err := tx.WebhookURLs().Disabled(s.Context(), []store.Receiver{at})
				is = all[at]
				return err
			})
			if err != nil {
				s.Fatal(err)
			}
			return is
		}
		set := func(settings account.Settings, want bool) {
			s.Helper()
			if _, err := s.Set(s.Context(), id, settings); err != nil {
				s.Fatal(err)
			}
			if got := disabled(); got != want {
				s.Errorf("after %+v the webhook is disabled: %v, want %v", settings, got, want)
			}
		}
		set(account.Settings{Webhook: &hook}, false)
		if err := s.db.Do(s.Context(), func(tx *store.Tx) error {
			return tx.WebhookURLs().Disable(s.Context(), id, hook)
		}); err != nil {
			s.Fatal(err)
		}
		set(account.Settings{NotifyPending: &yes}, true)
		set(account.Settings{Webhook: &hook}, false)
	})
}

// An account's name may have MaxName bytes and no more; its first key bears the time of the commit.
func TestANewAccountHasANameAndADatedKey(t *testing.T) {
	t.Parallel()
	each(t, func(s *harness) {
		if _, err := s.Create(s.Context(), strings.Repeat("n", account.MaxName+1), true); code(s.T, err) !=
			bursar.CodeInvalidRequest {
			s.Errorf("a name that is too long gives %v, want %q", err, bursar.CodeInvalidRequest)
		}
		made, err := s.Create(s.Context(), strings.Repeat("n", account.MaxName), true)
		if err != nil {
			s.Fatalf("a name of %d bytes gives %v, want no error", account.MaxName, err)
		}
		keys, err := s.List(s.Context(), made.AccountID)
		if err != nil || len(keys) != 1 || !keys[0].CreatedAt.Equal(s.clock.Now().Truncate(time.Microsecond)) {
			s.Errorf("the keys are %+v: %v, want one made at %v", keys, err, s.clock.Now())
		}
	})
}

func TestOrderTermsNameTheSignersInstance(t *testing.T) {
	t.Parallel()
	each(t, func(s *harness) {
		id := s.create(true).AccountID
		if err := s.db.Do(s.Context(), func(tx *store.Tx) error {
			return tx.Settings().NotePolicy(s.Context(), store.PolicyText{Instance: "K7QJ3ZL2"})
		}); err != nil {
			s.Fatal(err)
		}
		if got, err := s.OrderTerms(s.Context(), id); err != nil || got.Instance != "K7QJ3ZL2" {
			s.Errorf("got %+v: %v, want the instance K7QJ3ZL2", got, err)
		}
	})
}
