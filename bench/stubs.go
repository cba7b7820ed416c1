package main

const smallWallets, smallEntries = 10_000, 10_000

func (b *bench) blockStages() []stage   { return nil }
func (b *bench) scaleStages() []stage   { return nil }
func (b *bench) replicaStages() []stage { return nil }
func (b *bench) footprintStage() stage  { return stage{} }
func (s *site) latencySteps() []step    { return nil }
