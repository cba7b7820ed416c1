package deposit_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

var ctx = context.Background()

func TestMain(m *testing.M) { storetest.Main(m) }
