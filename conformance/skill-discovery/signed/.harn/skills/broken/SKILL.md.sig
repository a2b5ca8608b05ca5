{"schema": 
