package pay_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay"
)

// Each account's page has its own name and colours; that of an account without any has those of the service.
func TestThePageOfAnAccountHasItsBrand(t *testing.T) {
	t.Parallel()
	style := regexp.MustCompile(`/pay/assets/page-[0-9a-f]{16}\.css`)
	for own, want := range map[bool][2]string{true: {"Moss &amp; Co", "#7a1fa2"}, false: {"Fern &amp; Fig", "#0f5132"}} {
		h := newHarness(t, func(c *pay.Config) {
			c.Brands = map[bursar.ID]pay.Brand{{9}: {Name: "Moss & Co", Accent: "#7a1fa2", OnAccent: "#ffffff"}}
		})
		if own {
			h.Change("waiting", func(d *charge.Shown, _ map[bursar.ChainID]uint64) { d.AccountID = bursar.ID{9} })
		}
		_, page := h.ask(http.MethodGet, h.path("waiting"))
		_, css := h.ask(http.MethodGet, style.FindString(page))
		if !strings.Contains(page, want[0]) || !strings.Contains(css, "--accent:"+want[1]) {
			t.Errorf("own brand %v: the page has the name %v and the style begins with %.60q, want %v", own,
				strings.Contains(page, want[0]), css, want)
		}
	}
}
