import unittest

from bill import format_cents, parse_cents, split


class Amounts(unittest.TestCase):
    def test_reads_amounts(self):
        self.assertEqual(parse_cents("12.50"), 1250)
        self.assertEqual(parse_cents("12.5"), 1250)
        self.assertEqual(parse_cents("12"), 1200)

    def test_writes_amounts(self):
        self.assertEqual(format_cents(1205), "12.05")


class Shares(unittest.TestCase):
    def test_an_even_bill(self):
        self.assertEqual(split(9000, 3), [3000, 3000, 3000])

    def test_shares_add_up_to_the_bill(self):
        self.assertEqual(sum(split(10000, 3)), 10000)


if __name__ == "__main__":
    unittest.main()
