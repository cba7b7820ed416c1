package bursar

import "time"

// ClockTolerance is how far the clocks of the service, of the signer, of clients and of the people who approve may be
// apart. What one of them signed with its own clock, another one accepts if it is no further ahead than this; what the
// signer is to call expired by its clock is left to it for as long. One value holds for all: what the service accepts,
// the signer accepts too.
const ClockTolerance = 2 * time.Minute
