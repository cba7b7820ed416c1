package client_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar/client"
)

func TestNoSecretIsPrinted(t *testing.T) {
	t.Parallel()
	config := client.Config{BaseURL: "https://pay.example", Key: "bk_hidden", Secret: "bs_hidden"}
	c, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("started", "config", config, "client", c)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("started", "config", config, "client", c)
	all := log.String() + fmt.Sprintf("%v %+v %#v %s %v %+v %#v %+v", config, config, config, config, c, c, c, *c)
	if strings.Contains(all, "hidden") {
		t.Errorf("printed %s, want no %q", all, "hidden")
	}
}

func TestInvalidConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, config := range []client.Config{{}, {BaseURL: "https://pay.example"}, {BaseURL: "pay.example", Key: "k"},
		{BaseURL: "ftp://pay.example", Key: "k"},
		{BaseURL: "https://", Key: "k"}, {BaseURL: "https://a:b@pay.example", Key: "k"},
		{BaseURL: "https://pay.example?x", Key: "k"},
		{BaseURL: "https://pay.example", Key: "k", Attempts: -1}, {BaseURL: "https://pay.example", Key: "k", MaxWait: -1}} {
		if _, err := client.New(config); err == nil || strings.Contains(err.Error(), "a:b") {
			t.Errorf("%+v gives %v, want an error and no %q", config, err, "a:b")
		}
	}
}

func TestAListEndsWithItsError(t *testing.T) {
	t.Parallel()
	page := `{"success":true,"response":{"wallets":[{"walletID":"1"},{"walletID":"2"}],"nextCursor":"n"}}`
	l := &line{answers: []func() (*http.Response, error){gives(200, page), gives(200, page), refuses(404, "not_found"),
		gives(200, page)}}
	c := l.client(t)
	var got []string
	var last error
	for w, err := range client.All(t.Context(), c.Wallets) {
		got, last = append(got, w.WalletID), err
	}
	if strings.Join(got, " ") != "1 2 1 2 " || client.CodeOf(last) != client.NotFound ||
		l.asked[1].url != "https://pay.example/api/v1/account/wallets?cursor=n" {
		t.Errorf("listed %q, %v, want %q and %v and %q", got, last, "1 2 1 2 ", client.NotFound,
			"https://pay.example/api/v1/account/wallets?cursor=n")
	}
	for range client.All(t.Context(), c.Wallets) {
		break
	}
	if len(l.asked) != 4 {
		t.Errorf("%d pages were read, want 4", len(l.asked))
	}
}
