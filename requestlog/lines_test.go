package requestlog_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/requestlog"
)

func TestALineNamesItsRequest(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(requestlog.Naming(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelInfo})))
	of := bursar.WithRequest(context.Background(), "r-1")
	log.With("chain", "bitcoin").InfoContext(of, "one")
	log.Info("of none")
	log.InfoContext(bursar.WithRequest(context.Background(), ""), "of none either")
	log.DebugContext(of, "below the level")
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "msg=one chain=bitcoin request=r-1") ||
		strings.Contains(lines[1], "request") || strings.Contains(lines[2], "request") {
		t.Errorf("logged is\n%s\nwant three lines, of which the first names r-1", text.String())
	}
}
