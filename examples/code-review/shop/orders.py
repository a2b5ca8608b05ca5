import sqlite3


def find_orders(db: sqlite3.Connection, customer: str) -> list:
    query = "SELECT id, total FROM orders WHERE customer = '" + customer + "'"
    return db.execute(query).fetchall()


def average_total(orders: list) -> float:
    return sum(total for _, total in orders) / len(orders)
