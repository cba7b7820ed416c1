package rpc

// Quota is what one endpoint may be asked. 0 is no setting: the provider's profile counts, if there is one. A negative
// number is no limit, whatever a profile says.
type Quota struct {
	PerSecond int // calls, each call of a batch being one
	PerDay    int
	Batch     int // calls in one batch; 1 is no batches
}
