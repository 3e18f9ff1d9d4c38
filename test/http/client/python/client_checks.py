"""Checks of the Python client against a running service. The judge is the JSON of the REST API."""

import dataclasses
import importlib.util
import json
import os
import socket
import tempfile
import threading
import unittest
import urllib.request
from datetime import datetime, timezone
from decimal import Decimal
from itertools import islice

import httpx
import pandas
import twinbook as tb
from twinbook import records
from twinbook._decode import Decoder
from twinbook._transport import Transport
from twinbook.replay import _TYPES

HOST, KEY, POOR_KEY = os.environ["HOST"], os.environ["KEY"], os.environ["POOR_KEY"]
TAPE_HOST, TAPE_KEY = os.environ["TAPE_HOST"], os.environ["TAPE_KEY"]
TAPE_FROM, TAPE_TO = int(os.environ["TAPE_FROM"]), int(os.environ["TAPE_TO"])

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None


def fetch(path, host=HOST, key=KEY):
    request = urllib.request.Request(host + path, headers={"X-API-Key": key})
    with urllib.request.urlopen(request) as response:
        return response.read().decode()


def plain(value):
    """The JSON value of a record."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name.removesuffix("_"): plain(getattr(value, name)) for name in names}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value


def without_nulls(value):
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


class RestChecks(unittest.TestCase):
    def setUp(self):
        self.client = self.opened(HOST, KEY)
        self.traded = next(
            market["id"]
            for market in json.loads(fetch("/v1/markets?limit=200"))["markets"]
            if json.loads(fetch(f"/v1/markets/{market['id']}/trades"))["trades"]
        )

    def opened(self, host, key):
        client = tb.Client(host, key, retries=0)
        self.addCleanup(client.close)
        return client

    def same(self, found, expected):
        self.assertEqual(without_nulls(plain(found)), without_nulls(expected))

    def test_records_equal_the_json_of_the_api(self):
        client, traded = self.client, self.traded
        event = json.loads(fetch("/v1/events?limit=1"))["events"][0]["slug"]
        for found, path, key in [
            (client.markets.get(traded), f"/v1/markets/{traded}", None),
            (client.price(traded), f"/v1/markets/{traded}/price", None),
            (client.orderbook(traded), f"/v1/markets/{traded}/orderbook", None),
            (client.events.get(event), f"/v1/events/{event}", None),
            (list(client.trades(traded)), f"/v1/markets/{traded}/trades?limit=500", "trades"),
            (list(client.candles(traded, "1m")), f"/v1/markets/{traded}/candles?interval=1m&limit=1000", "candles"),
            (list(client.orderbook_history(traded)), f"/v1/markets/{traded}/orderbook/history?limit=500", "snapshots"),
            (list(client.markets.search()), "/v1/markets?limit=200", "markets"),
            (list(client.events.search()), "/v1/events?limit=200", "events"),
            (list(client.matches()), "/v1/matching-markets?limit=200", "matches"),
            (list(client.arbitrage()), "/v1/arbitrage?limit=200", "opportunities"),
            (list(client.arbitrage_history()), "/v1/arbitrage/history?limit=200", "opportunities"),
            (client.prices([traded]), f"/v1/prices?market_ids={traded}", "prices"),
            (client.orderbooks([traded]), f"/v1/orderbooks?market_ids={traded}", "orderbooks"),
        ]:
            with self.subTest(path):
                expected = json.loads(fetch(path))
                expected = expected if key is None else expected[key]
                # Candles are the newest first, but each page of the API begins with its oldest.
                expected = expected[::-1] if key == "candles" else expected
                self.assertTrue(expected)
                self.same(found, expected)
        self.assertIn(client.health().status, ("ok", "degraded"))

    def test_the_documented_example_of_each_record_is_decoded(self):
        document = json.loads(fetch("/openapi.json"))
        decoder = Decoder(float)
        for record, path, key in [
            (records.Whale, "/v1/whales", "trades"),
            (records.Match, "/v1/matching-markets", "matches"),
            (records.Opportunity, "/v1/arbitrage", "opportunities"),
            (records.PastOpportunity, "/v1/arbitrage/history", "opportunities"),
            (records.RankedWallet, "/v1/wallets", "wallets"),
            (records.Wallet, "/v1/wallets/{address}", None),
            (records.WalletPnl, "/v1/wallets/{address}/pnl", None),
            (records.WalletTrade, "/v1/wallets/{address}/trades", "trades"),
            (records.WalletPosition, "/v1/wallets/{address}/positions", "positions"),
            (records.WalletActivity, "/v1/wallets/{address}/activity", "activities"),
            (records.BookSnapshot, "/v1/markets/{market_id}/orderbook/history", "snapshots"),
            (records.Health, "/health", None),
        ]:
            with self.subTest(path):
                content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
                example = content["example"] if key is None else content["example"][key][0]
                self.same(decoder.record(record, example), example)

    def test_the_documented_example_of_each_replay_message_is_decoded(self):
        messages = json.loads(fetch("/asyncapi.json"))["components"]["messages"]
        decoded = 0
        for message in messages.values():
            for example in message.get("examples", []):
                payload = example["payload"]
                if payload.get("type") in _TYPES:
                    self.same(Decoder(float).record(_TYPES[payload["type"]], payload), payload)
                    decoded += 1
        self.assertGreaterEqual(decoded, len(_TYPES))

    def test_iteration_returns_each_row_once_over_several_pages(self):
        all_rows = json.loads(fetch(f"/v1/markets/{self.traded}/trades?limit=500"))["trades"]
        rows = self.client.trades(self.traded)
        rows._page_rows = 7
        self.same(list(rows), all_rows)
        self.same(list(islice(rows, 10)), all_rows[:10])
        self.same(list(self.client.trades(self.traded, limit=3)), all_rows[:3])

    def test_times_with_a_zone_select_the_same_rows_as_seconds(self):
        newest = next(iter(self.client.trades(self.traded))).timestamp_ms
        start = newest // 1000 - 300
        expected = json.loads(fetch(f"/v1/markets/{self.traded}/trades?limit=500&start_time={start}"))["trades"]
        when = datetime.fromtimestamp(start, timezone.utc)
        for time in (when, when.isoformat(), start * 1000):
            self.same(list(self.client.trades(self.traded, start=time)), expected)

    def test_decimals_have_the_digits_of_the_answer(self):
        with tb.Client(HOST, KEY, price_type=Decimal) as client:
            book = client.orderbook(self.traded)
        text = json.loads(fetch(f"/v1/markets/{self.traded}/orderbook"), parse_float=str, parse_int=str)
        found = [(str(level.price), str(level.size)) for level in book.bids + book.asks]
        self.assertEqual(found, [(level["price"], level["size"]) for level in text["bids"] + text["asks"]])
        self.assertIs(type(book.bids[0].size), Decimal)
        self.assertIs(type(self.client.orderbook(self.traded).bids[0].size), float)

    def test_a_data_frame_has_one_row_a_record(self):
        table = self.client.trades(self.traded).to_df()
        expected = json.loads(fetch(f"/v1/markets/{self.traded}/trades?limit=500"))["trades"]
        self.assertEqual(table["price"].tolist(), [trade["price"] for trade in expected])
        self.assertEqual([int(time.timestamp() * 1000) for time in table.index], table["timestamp_ms"].tolist())
        self.assertEqual(str(table.index.tz), "UTC")
        print(table[["price", "size", "side", "outcome"]].head(3))

    def test_wrong_keys_hosts_and_markets_raise_what_to_do(self):
        for host in ("127.0.0.1:8080", "localhost", "ws://localhost", "", "http://", "http://localhost/v1", "http://a b", "http://x:99999", "http://[", "http://x:y"):
            with self.assertRaisesRegex(tb.ConfigurationError, "Use "):
                tb.Client(host, KEY)
        os.environ.pop("TWINBOOK_API_KEY", None)
        with self.assertRaisesRegex(tb.ConfigurationError, "TWINBOOK_API_KEY"):
            tb.Client(HOST)
        with self.assertRaisesRegex(tb.AuthenticationError, "TWINBOOK_API_KEY"):
            self.opened(HOST, "wrong").markets.get(self.traded)
        with self.assertRaisesRegex(tb.NotFoundError, "markets.search"):
            self.client.markets.get("nope/../x")
        with self.assertRaisesRegex(tb.InvalidRequestError, "min_usd"):
            list(self.client.whales(min_usd=-1))
        with self.assertRaisesRegex(tb.ConfigurationError, "time zone"):
            self.client.trades(self.traded, start=datetime(2026, 11, 28))
        with self.assertRaisesRegex(tb.ConfigurationError, "limit"):
            self.client.trades(self.traded, limit=0)
        with self.assertRaisesRegex(tb.ConnectionFailedError, "scheme, host and port"):
            self.opened("http://127.0.0.1:1", KEY).health()
        with self.assertRaises(tb.RateLimitError) as refused:
            self.opened(HOST, POOR_KEY).markets.get(self.traded)
        self.assertEqual(refused.exception.status, 429)

    def test_the_key_of_the_environment_is_used_without_a_key(self):
        os.environ["TWINBOOK_API_KEY"] = KEY
        try:
            with tb.Client(HOST) as client:
                self.same(client.markets.get(self.traded), json.loads(fetch(f"/v1/markets/{self.traded}")))
        finally:
            del os.environ["TWINBOOK_API_KEY"]

    def test_429_is_repeated_after_the_stated_time_and_a_bounded_number_of_times(self):
        slept = []
        transport = Transport(HOST, POOR_KEY, decoder=Decoder(float), timeout_s=30, retries=3, sleep=slept.append)
        self.addCleanup(transport.close)
        with self.assertRaises(tb.RateLimitError) as refused:
            transport.get("/v1/markets", {})
        self.assertRegex(refused.exception.detail, "requests a minute")
        self.assertEqual(len(slept), 3)
        self.assertTrue(all(1 <= delay <= 30 for delay in slept))


class AnswerChecks(unittest.TestCase):
    def test_a_missing_or_wrong_field_raises_its_name(self):
        decoder = Decoder(float)
        level = {"price": 0.4, "size": 1, "platform": "venue_a"}
        self.assertEqual(decoder.record(records.Level, {**level, "added": 1}).price, 0.4)
        for wrong in ({"price": 0.4}, {**level, "price": "0.4"}, {**level, "size": True}, {**level, "platform": None}, []):
            with self.assertRaisesRegex(tb.ProtocolError, "Level"):
                decoder.record(records.Level, wrong)

    def test_503_without_a_time_is_repeated_with_growing_delays(self):
        slept, answers = [], [httpx.Response(503), httpx.Response(503), httpx.Response(200, text="{}")]
        transport = Transport(HOST, KEY, decoder=Decoder(float), timeout_s=30, retries=4, sleep=slept.append)
        transport._http = httpx.Client(base_url=HOST, transport=httpx.MockTransport(lambda _: answers.pop(0)))
        self.assertEqual(transport.get("/v1/markets", {}), {})
        self.assertTrue(0.25 <= slept[0] <= 0.5 <= slept[1] <= 1)

    def test_a_replay_that_ends_early_raises_after_the_received_messages(self):
        line = json.dumps({"type": "disconnect", "platform": "venue_a", "reason": "killed", "from_ms": 1, "to_ms": 2, "published_ms": 3})
        chunk = (line + "\n").encode()
        with socket.create_server(("127.0.0.1", 0)) as server:

            def answer():
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    connection.sendall(head + b"%x\r\n%s\r\n" % (len(chunk), chunk))

            thread = threading.Thread(target=answer)
            thread.start()
            received = []
            with tb.Client(f"http://127.0.0.1:{server.getsockname()[1]}", KEY, retries=0) as client:
                with self.assertRaises(tb.ConnectionFailedError):
                    for message in client.replay(0, 1):
                        received.append(message)
            thread.join()
        self.assertEqual([message.type for message in received], ["disconnect"])

    def test_a_repeated_cursor_raises(self):
        page = {"trades": [], "cursor": "same"}
        client = tb.Client(HOST, KEY)
        handler = httpx.MockTransport(lambda _: httpx.Response(200, json=page))
        client._transport._http = httpx.Client(base_url=HOST, transport=handler)
        with self.assertRaisesRegex(tb.ProtocolError, "cursor"):
            list(client.trades("x"))


class ReplayChecks(unittest.TestCase):
    def setUp(self):
        self.client = tb.Client(TAPE_HOST, TAPE_KEY, retries=0)
        self.addCleanup(self.client.close)

    def expected(self, channels):
        path = f"/v1/replay?from={TAPE_FROM}&to={TAPE_TO}&channels={','.join(channels)}"
        return [json.loads(line) for line in fetch(path, TAPE_HOST, TAPE_KEY).splitlines()]

    def test_messages_equal_the_lines_of_the_api(self):
        channels = ["orderbook", "trades", "prices"]
        found = [plain(message) for message in self.client.replay(TAPE_FROM, TAPE_TO, channels=channels)]
        expected = self.expected(channels)
        self.assertGreater(len(expected), 300)
        self.assertEqual(without_nulls(found), without_nulls(expected))

    def test_a_data_frame_has_a_row_for_each_level_and_trade(self):
        table = self.client.replay(TAPE_FROM, TAPE_TO).to_df()
        rows = []
        for message in self.expected(["orderbook", "trades"]):
            if message["type"] in ("snapshot", "update"):
                rows += [("bid", one["price"], one["size"]) for one in message["data"]["bids"]]
                rows += [("ask", one["price"], one["size"]) for one in message["data"]["asks"]]
            elif message["type"] == "trade":
                data = message["data"]
                rows.append((data["side"], data["price"], data["size"]))
        times = [(time.value // 1_000_000, time.value % 1_000_000) for time in table.index if time == time]
        self.assertEqual(times, [(time, 0) for time in table["timestamp_ms"].dropna()])
        self.assertLess(len(times), len(table))
        self.assertEqual([str(table[name].dtype) for name in ("timestamp_ms", "seq", "published_ms")], ["Int64", "Int64", "int64"])
        found = table[table["type"].isin(["snapshot", "update", "trade"])].dropna(subset=["price"])
        self.assertEqual(list(found[["side", "price", "size"]].itertuples(index=False, name=None)), rows)

    @unittest.skipUnless(HAS_PYARROW, "pyarrow is missing; Debian has no package of it")
    def test_a_parquet_file_has_the_rows_of_the_data_frame(self):
        from pyarrow.parquet import read_table

        channels = ["orderbook", "trades", "prices"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "replay.parquet")
            for price_type in (float, Decimal):
                with tb.Client(TAPE_HOST, TAPE_KEY, price_type=price_type) as client:
                    replay = client.replay(TAPE_FROM, TAPE_TO, channels=channels)
                    expected = replay.to_df().astype(object)
                    self.assertEqual(replay.to_parquet(path), len(expected))
                rows = read_table(path).to_pylist()
                for row, (_, frame_row) in zip(rows, expected.iterrows(), strict=True):
                    for name, value in frame_row.items():
                        missing = value is None or value is pandas.NA or value != value
                        self.assertEqual(row[name], None if missing else value, name)
            with self.assertRaises(tb.InvalidRequestError):
                self.client.replay(TAPE_TO, TAPE_FROM).to_parquet(path)
            self.assertEqual(os.listdir(folder), ["replay.parquet"])

    def test_an_invalid_period_raises_what_to_do(self):
        with self.assertRaises(tb.InvalidRequestError):
            list(self.client.replay(TAPE_TO, TAPE_FROM))
        with self.assertRaisesRegex(tb.ConfigurationError, "list"):
            self.client.replay(TAPE_FROM, TAPE_TO, markets="venue_a_x")


if __name__ == "__main__":
    unittest.main(verbosity=2)
