package service

// linkSharedKeys sets for every follower which other chains share its keys: an external spend on one of them halts all.
func (s *Service) linkSharedKeys() {
	for _, id := range s.order {
		w := s.workers[id]
		for _, other := range s.order {
			if other != id && s.workers[other].chain.Capabilities().Family == w.chain.Capabilities().Family {
				w.follower.Externals.SharedKeys = append(w.follower.Externals.SharedKeys, other)
			}
		}
	}
}
