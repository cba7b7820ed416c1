package service

// addKin tells every follower which other chains share its keys: an external spend on one of them halts all.
func (s *Service) addKin() {
	for _, id := range s.order {
		w := s.workers[id]
		for _, other := range s.order {
			if other != id && s.workers[other].chain.Capabilities().Family == w.chain.Capabilities().Family {
				w.follower.Externals.Kin = append(w.follower.Externals.Kin, other)
			}
		}
	}
}
