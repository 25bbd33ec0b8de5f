// An API with calls included and overage: a free credit each month, then a price per call, and the bill so far.
//
//	TALLYHOUSE_URL=http://127.0.0.1:3000 TALLYHOUSE_TOKEN=... go run examples/go/overage.go
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"os"
	"strings"
	"time"
)

type object map[string]any

var (
	url    = strings.TrimRight(os.Getenv("TALLYHOUSE_URL"), "/")
	token  = os.Getenv("TALLYHOUSE_TOKEN")
	client = http.Client{Timeout: 30 * time.Second}
)

// call answers with numbers as they were sent, so that no digit is lost. A refusal ends the program with its text.
func call(method, path string, body, answer any) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			log.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, url+path, sent)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if answer == nil || len(text) == 0 {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(answer); err != nil {
		log.Fatal(err)
	}
}

func created(path string, body object) string {
	var answer struct {
		Data struct{ ID string }
	}
	call("POST", path, body, &answer)
	return answer.Data.ID
}

func cents(number json.Number) *big.Rat {
	exact, ok := new(big.Rat).SetString(number.String())
	if !ok {
		log.Fatalf("%s is not a number", number)
	}
	return exact
}

func main() {
	now := time.Now().UTC()
	monthStart := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	nextMonth := monthStart.AddDate(0, 1, 0)
	at := func(instant time.Time) string { return instant.Format(time.RFC3339) }

	metric := created("/v1/billable-metrics/create", object{
		"name": "API calls", "aggregation_type": "COUNT",
		"event_type_filter": object{"in_values": []string{"api_call"}},
	})
	products := "/v1/contract-pricing/products/create"
	calls := created(products, object{"name": "API calls", "type": "USAGE", "billable_metric_id": metric})
	included := created(products, object{"name": "Included calls", "type": "FIXED"})
	card := created("/v1/contract-pricing/rate-cards/create", object{"name": "API"})
	call("POST", "/v1/contract-pricing/rate-cards/addRate", object{
		"rate_card_id": card, "product_id": calls, "starting_at": "2026-01-01T00:00:00Z",
		"entitled": true, "rate_type": "FLAT", "price": 0.5,
	}, nil)

	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		log.Fatal(err)
	}
	alias := "api-" + hex.EncodeToString(random)
	customer := created("/v1/customers", object{"name": "API customer", "ingest_aliases": []string{alias}})
	created("/v1/contracts/create", object{
		"customer_id": customer, "rate_card_id": card, "starting_at": at(monthStart),
		"credits": []object{{
			"name": "100 calls included", "product_id": included, "priority": 1,
			"access_schedule": object{"schedule_items": []object{
				{"amount": 50, "starting_at": at(monthStart), "ending_before": at(nextMonth)},
			}},
		}},
	})

	// 130 calls, the last hundred of them in a request that is sent twice: each counts once.
	events := make([]object, 130)
	for index := range events {
		events[index] = object{
			"transaction_id": fmt.Sprintf("%s-%d", alias, index), "customer_id": alias,
			"event_type": "api_call", "timestamp": at(now),
		}
	}
	call("POST", "/v1/ingest", events[:30], nil)
	call("POST", "/v1/ingest", events[30:], nil)
	call("POST", "/v1/ingest", events[30:], nil)

	var invoices struct {
		Data []struct {
			Type  string
			Total json.Number
			Lines []struct {
				Name     string
				Quantity json.Number
				Total    json.Number
			} `json:"line_items"`
		}
	}
	call("GET", "/v1/customers/"+customer+"/invoices?status=DRAFT", nil, &invoices)
	for _, invoice := range invoices.Data {
		if invoice.Type != "USAGE" {
			continue
		}
		for _, line := range invoice.Lines {
			fmt.Printf("%s: %s cents\n", line.Name, line.Total)
		}
		fmt.Printf("so far this month: %s cents\n", invoice.Total)
		// 130 calls at half a cent are 65 cents, of which the credit pays 50.
		if cents(invoice.Total).Cmp(big.NewRat(15, 1)) != 0 {
			log.Fatal("15 cents were expected")
		}
		return
	}
	log.Fatal("there is no draft of usage")
}
