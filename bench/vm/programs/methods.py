import sys


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side

    def scaled(self, factor):
        return self.side * factor


class Box:
    def __init__(self, width, height):
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height

    def scaled(self, factor):
        return self.area() * factor


def measure(n):
    square = Square(3)
    crate = Box(4, 5)
    total = 0
    for i in range(n):
        factor = i % 4
        total = (total + square.area() + crate.scaled(factor) + square.scaled(factor)) % 1000003
    return total


print(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1500000))
