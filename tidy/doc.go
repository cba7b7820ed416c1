// Package tidy tests the repository as a whole: its imports and the owners of statuses, the words of its code, and its
// documents with their links, blocks and diagrams.
//
// It owns the rules that they check, and nothing of the service. Its tests run in the folder of the repository and read
// the code as text; they never change a file, except with -update.
package tidy
