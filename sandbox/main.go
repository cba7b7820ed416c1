// Command sandbox runs chain nodes on this machine and the service on top of them.
package main

func main() {}
