package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

const mailReceiver = "email: ops@shop.example, from: bursar@shop.example, smtp: 'smtp.shop.example:587'"

func TestNotices(t *testing.T) {
	t.Parallel()
	if got := parse(t, "").Notices; len(got.Receivers) != 0 || got.Digest != time.Minute || got.Daily != 8*60 ||
		got.ApprovalsAfter != 4*time.Hour || got.WithdrawalsAfter != 2*time.Hour || got.Location != time.UTC {
		t.Errorf("without any they are %+v, want the defaults and no receivers", got)
	}
	cfg := parse(t, "notices: {name: Shop, url: 'https://b.example', timezone: Europe/Berlin, daily: '07:30', "+
		"digest: 5m, approvals_after: 0s, receivers: {ops: {"+mailReceiver+", user: bursar, password_file: smtp.password, "+
		"quiet: '22:00-07:00', kinds: [uncovered, solvency]}, chat: {webhook: 'https://hooks.example/hunter2', "+
		"format: slack}}}")
	got := cfg.Notices
	if got.Name != "Shop" || got.Location.String() != "Europe/Berlin" || got.Daily != 7*60+30 || got.ApprovalsAfter != 0 ||
		len(got.Receivers) != 2 || got.Receivers[0].Name != "chat" || !cfg.HoldsSecrets() {
		t.Errorf("they are %+v, want two receivers in order, and a configuration with secrets", got)
	}
	ops := got.Receivers[1]
	if fmt.Sprint(ops.Kinds, ops.Alarms, ops.QuietFrom, ops.QuietUntil) != "[solvency alarms] [uncovered] 1320 420" ||
		ops.TLS != config.NoticeStartTLS || !strings.HasSuffix(ops.PasswordFile, "smtp.password") {
		t.Errorf("the receiver is %+v, want solvency, one kind of alarm, and quiet hours", ops)
	}
	if text := fmt.Sprintf("%+v", cfg); strings.Contains(text, "hunter2") {
		t.Error("the URL of a webhook is printed, want it secret")
	}
}

func TestNoticesFromTheEnvironment(t *testing.T) {
	t.Parallel()
	got := parse(t, "", "BURSAR_NOTICES_DAILY=off", "BURSAR_NOTICES_RECEIVERS_OPS_EMAIL=a@b.example,c@b.example",
		"BURSAR_NOTICES_RECEIVERS_OPS_FROM=d@b.example", "BURSAR_NOTICES_RECEIVERS_OPS_SMTP=localhost:25",
		"BURSAR_NOTICES_RECEIVERS_OPS_TLS=none", "BURSAR_NOTICES_RECEIVERS_OPS_USER=me",
		"BURSAR_NOTICES_RECEIVERS_OPS_PASSWORD=hunter2").Notices
	if got.Daily != -1 || len(got.Receivers) != 1 || len(got.Receivers[0].Email) != 2 ||
		got.Receivers[0].Password.Reveal() != "hunter2" {
		t.Errorf("they are %+v, want no daily line and one receiver with two addresses and a password", got)
	}
}

func TestMistakesOfNotices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "receivers is required",
		"daily: 8am":                        "not a time of day",
		"timezone: Mars/Olympus":            "not a time zone",
		"digest: 1s":                        "not a duration that is allowed",
		"receivers: {ops: {}}":              "exactly one of email and webhook is required",
		"receivers: {ops: {email: nobody}}": "not an email address",
		"receivers: {ops: {" + mailReceiver + ", webhook: 'https://a.example'}}": "exactly one of email and webhook",
		"receivers: {ops: {" + mailReceiver + ", format: slack}}":                "not used with email",
		"receivers: {ops: {email: a@b.example, from: a@b.example}}":              "smtp, from and at least one address",
		"receivers: {ops: {" + mailReceiver + ", user: me}}":                     "user needs password_file",
		"receivers: {ops: {" + mailReceiver + ", password_file: p}}":             "user is required with a password",
		"receivers: {ops: {" + mailReceiver + ", user: me, password: hunter2}}":  "set it by its environment variable",
		"receivers: {ops: {" + mailReceiver + ", tls: none}}":                    "a server on this machine only",
		"receivers: {ops: {" + mailReceiver + ", quiet: night}}":                 "not hours of the day",
		"receivers: {ops: {" + mailReceiver + ", kinds: [uncoverd]}}":            "did you mean uncovered?",
		"receivers: {ops: {" + mailReceiver + ", kinds: []}}":                    "at least one kind is required",
		"receivers: {ops: {webhook: 'http://chat.example/hunter2'}}":             "the URL must be https",
		"receivers: {ops: {webhook: 'https://a.example', format: irc}}":          "allowed are json, slack",
		"receivers: {ops: {webhook: 'https://a.example', format: matrix}}":       "matrix needs token_file",
		"receivers: {ops: {webhook: 'https://a.example', token_file: t}}":        "with format: matrix only",
		"receivers: {ops: {webhook: 'https://a.example', from: a@b.example}}":    "not used with webhook",
	} {
		_, err := config.Parse("bursar.yaml", []byte("notices: {"+text+"}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s gives %v, want %q and no secret", text, err, want)
		}
	}
}
