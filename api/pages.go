package api

import (
	"net/http"

	"github.com/bursar/bursar/store"
)

// openapi serves the API's description as JSON.
func (a *api) openapi(_ *http.Request, header http.Header) (store.Answer, error) {
	served, err := a.described()
	if err != nil {
		return store.Answer{}, err
	}
	header.Set("Access-Control-Allow-Origin", "*") // it is public, and viewers on other sites may read it
	return store.Answer{Status: http.StatusOK, Body: served.JSON}, nil
}

// page serves the API's description as a page, which may use its own style and nothing else.
func (a *api) page(_ *http.Request, header http.Header) (store.Answer, error) {
	served, err := a.described()
	if err != nil {
		return store.Answer{}, err
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", served.Policy)
	header.Set("Referrer-Policy", "no-referrer")
	return store.Answer{Status: http.StatusOK, Body: served.HTML}, nil
}
